// Ctrl-C in the middle of a measurement: it is finished, then table and plots are written.
#include <signal.h>
#include <unistd.h>

#include "bench.h"

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number) {
  static const char TEXT[] =
      "\nsinew: stopping after this measurement; Ctrl-C again ends at once\n";
  stop_asked = 1;
  signal(signal_number, SIG_DFL);
  if (write(STDERR_FILENO, TEXT, sizeof TEXT - 1) < 0) return;  // nobody to tell
}

void bench_listen_for_stop(void) {
  signal(SIGINT, ask_to_stop);
  signal(SIGTERM, ask_to_stop);
}

sn_status bench_check_stop(sn_error* err) {
  if (!stop_asked) return SN_OK;
  return bench_fail(err, SN_ERR_INTERRUPTED, "bench: interrupted; figures so far are kept");
}
