// Movies by the program ffmpeg, which gets the pictures as they are made through a pipe.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "picture.h"

extern char** environ;

struct movie {
  char path[PICTURE_PATH], temporary[PICTURE_PATH + 32];
  int width, height;
  int pipe;   // -1 once closed
  pid_t pid;  // 0 once it has ended
};

static sn_status spawn(movie* m, char* const words[], int read_end, sn_error* err) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) {
    return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  }
  posix_spawn_file_actions_adddup2(&actions, read_end, STDIN_FILENO);
  // Its messages are all on stderr; stdout is ours.
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int code = posix_spawnp(&m->pid, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code == 0) return SN_OK;
  m->pid = 0;
  return picture_fail(err, SN_ERR_IO,
                      "%.900s: a movie is made by the program ffmpeg, which cannot be started: %s; "
                      "install it, or name a FILE.png",
                      m->path, strerror(code));
}

// The same pictures give the same bytes: a fixed number of threads, no names and dates of encoders.
static sn_status start_ffmpeg(movie* m, double fps, int read_end, sn_error* err) {
  char size[32], rate[32];
  snprintf(size, sizeof size, "%dx%d", m->width, m->height);
  snprintf(rate, sizeof rate, "%.6g", fps);
  // clang-format off
  char* const words[] = {
      "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y",
      "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", rate, "-i", "pipe:0",
      "-an", "-map_metadata", "-1", "-vf", "scale=out_color_matrix=bt709:out_range=tv",
      "-c:v", "libx264", "-preset", "medium", "-crf", "18", "-x264-params", "threads=4",
      "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709",
      "-color_trc", "iec61966-2-1", "-color_range", "tv",
      "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart",
      "-f", "mp4", m->temporary, NULL};
  // clang-format on
  return spawn(m, words, read_end, err);
}

sn_status movie_open(const char* path, int width, int height, double fps, movie** opened,
                     sn_error* err) {
  int ends[2];
  *opened = NULL;
  if (width % 2 || height % 2) {
    return picture_fail(err, SN_ERR_USAGE, "a movie of %d x %d; both sides must be even", width,
                        height);
  }
  movie* m = calloc(1, sizeof *m);
  if (!m) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  m->width = width;
  m->height = height;
  m->pipe = -1;
  snprintf(m->path, sizeof m->path, "%s", path);
  snprintf(m->temporary, sizeof m->temporary, "%s.%ld.part", path, (long)getpid());
  sn_status status = SN_OK;
  if (pipe2(ends, O_CLOEXEC) != 0) {
    status = picture_fail(err, SN_ERR_IO, "%.900s: no pipe to ffmpeg: %s", path, strerror(errno));
  } else {
    m->pipe = ends[1];
    // A program that ends early is an error to report, not a signal to die of.
    signal(SIGPIPE, SIG_IGN);
    status = start_ffmpeg(m, fps, ends[0], err);
    close(ends[0]);
  }
  if (status != SN_OK) {
    movie_close(m);
    return status;
  }
  *opened = m;
  return SN_OK;
}

// Wait for the program. @return whether it ended well
static bool ended_well(movie* m) {
  int code = 0;
  if (m->pipe >= 0) close(m->pipe);
  m->pipe = -1;
  if (!m->pid) return false;
  while (waitpid(m->pid, &code, 0) < 0 && errno == EINTR) continue;
  m->pid = 0;
  return WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

sn_status movie_add(movie* m, const sn_image* image, sn_error* err) {
  const uint8_t* at = image->pixels;
  size_t left = 3 * (size_t)image->width * (size_t)image->height;
  while (left > 0) {
    ssize_t count = write(m->pipe, at, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return picture_fail(err, SN_ERR_IO, "%.900s: ffmpeg stopped taking pictures: %s", m->path,
                          strerror(errno));
    }
    at += count;
    left -= (size_t)count;
  }
  return SN_OK;
}

sn_status movie_finish(movie* m, sn_error* err) {
  if (!ended_well(m)) {
    return picture_fail(err, SN_ERR_IO, "%.900s: ffmpeg could not write the movie", m->path);
  }
  if (rename(m->temporary, m->path) != 0) {
    return picture_fail(err, SN_ERR_IO, "%.900s: cannot be replaced: %s", m->path, strerror(errno));
  }
  return SN_OK;
}

void movie_close(movie* m) {
  if (!m) return;
  if (m->pid) kill(m->pid, SIGTERM);
  ended_well(m);
  remove(m->temporary);
  free(m);
}
