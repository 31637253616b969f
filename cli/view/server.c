// civetweb behind one file. It hands every request to begin() and does nothing with it itself: no files
// of the disk, no scripts, no websockets.
//
// Who may ask: whoever gave our own address as Host, and if there is an Origin, our own page. A page from
// elsewhere that a browser on this machine shows can therefore neither read answers (no CORS headers, and
// 403), nor get round that by a name of its own that leads to 127.0.0.1 (its Host is that name).
#include "server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// A thread waits for its client. With so many, a hundred that dawdle leave room for one that does not.
#define THREADS "192"
// For the head of a request, and for a client that takes nothing of an answer.
#define TIMEOUT_MS "10000"
// A client that takes its answer has this long, and a second more for each piece.
#define SEND_SECONDS 30
#define PIECE ((size_t)1 << 16)
// Answers are made by so many at once.
#define MAKERS 4
// Answers in memory that have not been taken yet.
#define IN_FLIGHT_MOST ((size_t)64 << 20)

typedef struct server {
  view* view;
  char hosts[2][32];    // that a request may name
  char origins[2][40];  // that a page may come from
  sem_t makers;
  pthread_mutex_t lock;
  size_t in_flight;  // bytes of answers in memory
} server;

static const char SECURITY_HEADERS[] =
    "Content-Security-Policy: default-src 'self'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cache-Control: no-store\r\n";

static bool send_head(struct mg_connection* c, const view_answer* a) {
  char size[24];
  snprintf(size, sizeof size, "%llu", (unsigned long long)a->size);
  mg_response_header_start(c, a->status);
  mg_response_header_add(c, "Content-Type", a->type, -1);
  mg_response_header_add(c, "Content-Length", size, -1);
  mg_response_header_add_lines(c, SECURITY_HEADERS);
  if (a->status == 405) mg_response_header_add(c, "Allow", "GET, HEAD", -1);
  return mg_response_header_send(c) == 0;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// false: the client did not take all of it, or the file has become shorter. The head has promised more, so
// the connection must end.
static bool send_content(struct mg_connection* c, const view_answer* a) {
  double deadline = seconds_now() + SEND_SECONDS;
  unsigned char* piece = malloc(PIECE);
  uint64_t sent = 0;
  while (piece && sent < a->size && seconds_now() < deadline) {
    size_t size = view_answer_read(a, sent, piece, PIECE);
    if (size == 0 || mg_write(c, piece, size) != (int)size) break;
    sent += size;
    deadline += 1;
  }
  free(piece);
  return sent == a->size;
}

static int send_answer(struct mg_connection* c, const view_answer* a, bool head_only) {
  bool sent = send_head(c, a);
  if (sent && !head_only) sent = send_content(c, a);
  if (!sent) mg_disable_connection_keep_alive(c);
  return a->status;
}

static int send_error(struct mg_connection* c, int status, const char* text, bool head_only) {
  view_answer answer = {.file = -1};
  answer_error(&answer, status, "%s", text);
  answer.size = answer.bytes.size;
  mg_disable_connection_keep_alive(c);
  send_answer(c, &answer, head_only);
  view_answer_free(&answer);
  return status;
}

// Who may ask

static bool is_one_of(const char* value, const char* first, const char* second) {
  return strcasecmp(value, first) == 0 || strcasecmp(value, second) == 0;
}

// Of headers that occur twice every one counts, so that no reader of the first or the last is fooled.
static int check_sender(const server* s, const struct mg_request_info* info, const char** why) {
  int hosts = 0;
  for (int i = 0; i < info->num_headers; ++i) {
    const char *name = info->http_headers[i].name, *value = info->http_headers[i].value;
    if (strcasecmp(name, "Host") == 0) {
      ++hosts;
      *why = "the Host header names another server";
      if (!is_one_of(value, s->hosts[0], s->hosts[1])) return 403;
    } else if (strcasecmp(name, "Origin") == 0) {
      *why = "the Origin header names another page";
      if (!is_one_of(value, s->origins[0], s->origins[1])) return 403;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
      *why = "a request has no content here";
      return 400;
    }
  }
  *why = "too many headers";  // there may be more of them than we are shown
  if (info->num_headers >= MG_MAX_HEADERS) return 400;
  *why = "one Host header is needed";
  if (hosts != 1) return 400;
  *why = "a request has no content here";
  return info->content_length > 0 ? 400 : 0;
}

// Answers

static bool reserve(server* s, size_t size) {
  pthread_mutex_lock(&s->lock);
  bool fits =
      s->in_flight == 0 || (s->in_flight < IN_FLIGHT_MOST && size <= IN_FLIGHT_MOST - s->in_flight);
  if (fits) s->in_flight += size;
  pthread_mutex_unlock(&s->lock);
  return fits;
}

static void release(server* s, size_t size) {
  pthread_mutex_lock(&s->lock);
  s->in_flight -= size;
  pthread_mutex_unlock(&s->lock);
}

static int answer(server* s, struct mg_connection* c, const char* path, const char* query,
                  bool head_only) {
  view_answer a;
  while (sem_wait(&s->makers) != 0) continue;
  view_answer_path(s->view, path, query, &a);
  sem_post(&s->makers);
  size_t held = a.bytes.room;
  int status = 503;
  if (reserve(s, held)) {
    status = send_answer(c, &a, head_only);
    view_answer_free(&a);
    release(s, held);
  } else {
    view_answer_free(&a);
    send_error(c, status, "too many answers wait for their readers; try again", head_only);
  }
  return status;
}

static int begin(struct mg_connection* c) {
  server* s = mg_get_user_data(mg_get_context(c));
  const struct mg_request_info* info = mg_get_request_info(c);
  const char *why = "", *path = info->request_uri;
  bool head_only = strcmp(info->request_method, "HEAD") == 0;
  int refused = check_sender(s, info, &why);
  if (refused) return send_error(c, refused, why, head_only);
  if (!head_only && strcmp(info->request_method, "GET") != 0) {
    return send_error(c, 405, "only GET and HEAD are answered", false);
  }
  if (!path || path[0] != '/') return send_error(c, 400, "expected a path", head_only);
  return answer(s, c, path, info->query_string, head_only);
}

static char REFUSED[] = "refused";

// What civetweb itself has to refuse, such as a request that is none. It would answer in the version that
// was asked for, whatever that is, and blame itself for it.
static int refuse(struct mg_connection* c, int status, const char* text) {
  byte_buffer content = {0};
  if (status >= 501) status = 400;
  bytes_print(&content, "{\"error\": ");
  bytes_quote(&content, text);
  bytes_print(&content, "}\n");
  mg_set_user_connection_data(c, REFUSED);
  mg_disable_connection_keep_alive(c);
  mg_printf(c,
            "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
            "Connection: close\r\n%s\r\n",
            status, mg_get_response_code_text(c, status), content.size, SECURITY_HEADERS);
  mg_write(c, content.at, content.size);
  bytes_free(&content);
  return 0;
}

// `GET *` and addresses of other servers are right as requests go, and civetweb ends the connection without
// a word.
static void end_connection(const struct mg_connection* c) {
  const struct mg_request_info* info = mg_get_request_info(c);
  bool unanswered = info && info->request_uri && !info->local_uri;
  if (unanswered && mg_get_user_connection_data(c) != REFUSED) {
    refuse((struct mg_connection*)c, 400, "expected a path");
  }
  mg_set_user_connection_data(c, NULL);
}

static int drop_message(const struct mg_connection* c, const char* message) {
  (void)c;
  (void)message;
  return 1;
}

// Start and end

static int find_port(const struct mg_context* context) {
  struct mg_server_port ports[1];
  return mg_get_server_ports(context, 1, ports) == 1 ? ports[0].port : 0;
}

static void name_server(server* s, int port) {
  static const char* const NAMES[2] = {"127.0.0.1", "localhost"};
  for (int i = 0; i < 2; ++i) {
    snprintf(s->hosts[i], sizeof s->hosts[i], "%s:%d", NAMES[i], port);
    snprintf(s->origins[i], sizeof s->origins[i], "http://%s:%d", NAMES[i], port);
  }
}

// Its messages are not ours, and it need not end when we do.
static void start_browser(const char* address) {
  extern char** environ;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none;
  pid_t child;
  char* const words[] = {"xdg-open", (char*)address, NULL};
  sigemptyset(&none);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", 0, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", 1, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  if (posix_spawnp(&child, words[0], &files, &attributes, words, environ) != 0) {
    fprintf(stderr, "sinew: warning: xdg-open is not there; open %s in a browser\n", address);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
}

// The port is known before the first request can know it: nobody has been told the address.
static struct mg_context* start(server* s, int port, struct mg_error_data* why) {
  char listen[32];
  snprintf(listen, sizeof listen, "127.0.0.1:%d", port);
  const char* options[] = {"listening_ports",
                           listen,
                           "num_threads",
                           THREADS,
                           "request_timeout_ms",
                           TIMEOUT_MS,
                           "enable_keep_alive",
                           "yes",
                           "keep_alive_timeout_ms",
                           "5000",
                           "tcp_nodelay",
                           "1",
                           "decode_url",
                           "no",
                           "enable_directory_listing",
                           "no",
                           NULL};
  const struct mg_callbacks callbacks = {.begin_request = begin,
                                         .http_error = refuse,
                                         .connection_close = end_connection,
                                         .log_message = drop_message,
                                         .log_access = drop_message};
  struct mg_init_data init = {
      .callbacks = &callbacks, .user_data = s, .configuration_options = options};
  return mg_start2(&init, why);
}

// civetweb looks for its end only when a connection comes or two seconds have passed: make one.
static void knock(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door < 0) return;
  // Whether anyone still opens does not matter.
  (void)!connect(door, (struct sockaddr*)&address, sizeof address);
  close(door);
}

typedef struct ending {
  struct mg_context* context;
  sem_t done;
} ending;

static void* stop_server(void* argument) {
  ending* end = argument;
  mg_stop(end->context);
  sem_post(&end->done);
  return NULL;
}

// Who ends the program does not want to wait for clients that dawdle. @return whether all have gone
static bool stop(struct mg_context* context, int port) {
  static ending end;  // outlives us if clients do
  pthread_t thread;
  struct timespec until;
  end.context = context;
  sem_init(&end.done, 0, 0);
  if (pthread_create(&thread, NULL, stop_server, &end) != 0) {
    mg_stop(context);
    return true;
  }
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  knock(port);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  int waited;
  do {
    waited = sem_timedwait(&end.done, &until);
  } while (waited != 0 && errno == EINTR);
  if (waited == 0) {
    pthread_join(thread, NULL);
  } else {
    pthread_detach(thread);
  }
  return waited == 0;
}

static sn_status serve(server* s, const server_options* o, const sigset_t* ends, sn_error* err) {
  char text[256] = "";
  struct mg_error_data why = {.text = text, .text_buffer_size = sizeof text};
  struct mg_context* context = start(s, o->port, &why);
  if (!context) {
    err->status = SN_ERR_IO;
    snprintf(
        err->text, sizeof err->text,
        "port %d of 127.0.0.1 cannot be had (%s); is another viewer on it? Without --port a free "
        "one is taken",
        o->port, text);
    return SN_ERR_IO;
  }
  int signal_number, port = find_port(context);
  char address[48];
  name_server(s, port);
  snprintf(address, sizeof address, "http://127.0.0.1:%d/", port);
  printf("%s\n", address);
  fflush(stdout);
  if (o->told) o->told(o->user);
  fflush(stdout);
  if (o->browser) start_browser(address);
  while (sigwait(ends, &signal_number) != 0) continue;
  s->view->in_use = !stop(context, port);
  return SN_OK;
}

sn_status server_run(view* v, const server_options* o, sn_error* err) {
  static server s;  // clients that are still there when we leave use it to the end
  sigset_t ends;
  if (o->port < 0 || o->port > 65535) {
    err->status = SN_ERR_USAGE;
    snprintf(err->text, sizeof err->text, "--port: found %d, expected 1 to 65535, or 0 for any",
             o->port);
    return SN_ERR_USAGE;
  }
  // All threads inherit these; the signals then wait for us to ask for them.
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);
  signal(SIGPIPE, SIG_IGN);
#ifdef __GLIBC__
  // Threads come by their large blocks from the system and give them back at once; else each would keep
  // its own.
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
  mallopt(M_ARENA_MAX, 2);
#endif
  s.view = v;
  sem_init(&s.makers, 0, MAKERS);
  pthread_mutex_init(&s.lock, NULL);
  mg_init_library(MG_FEATURES_DEFAULT);
  sn_status status = serve(&s, o, &ends, err);
  if (!v->in_use) mg_exit_library();
  return status;
}
