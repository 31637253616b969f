#!/bin/sh
# fuzz.sh BUILD SECONDS [TARGET...]: every fuzz target for so many seconds, as many at a time as there are processors.
# Starts from the seeds and from what was found before, with a fixed sequence of random numbers. An input that
# fails is left in BUILD/found/TARGET; once that is mended it belongs into fuzz/found/TARGET, where the tests run it for ever.
# The last line reads `N passed, N failed`.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
seconds=$2
shift 2
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
logs=$build/fuzz-logs
mkdir -p "$logs"

if [ $# = 0 ]; then
  for folder in fuzz/seeds/*/; do set -- "$@" "$(basename "$folder")"; done
fi

# run TARGET: a corpus that grows is kept in the build folder, so that the next run goes on where this one ends. An input may
# take long on a machine that does other things too.
run() {
  target=$1
  mkdir -p "$build/corpus/$target" "$build/found/$target"
  "$build/fuzz/fuzz_$target" -max_total_time="$seconds" -seed=1 -timeout=120 -rss_limit_mb=2048 \
    -malloc_limit_mb=1024 -print_final_stats=1 -max_len="$(most "$target")" \
    -artifact_prefix="$build/found/$target/" "$build/corpus/$target" "fuzz/seeds/$target" \
    $([ -d "fuzz/found/$target" ] && echo "fuzz/found/$target") >"$logs/$target.log" 2>&1
}

most() { # bytes of an input
  case $1 in
    http) echo 256 ;;
    checkpoint) echo 4096 ;;
    *) echo 8192 ;;
  esac
}

failed=0
passed=0
running=""
finish() { # finish PID TARGET
  if wait "$1"; then
    passed=$((passed + 1))
    line=$(grep -E '^#[0-9]+.*cov: ' "$logs/$2.log" | tail -n 1 | sed 's/corp:.*exec/exec/')
    printf '%-10s %s\n' "$2" "$line"
  else
    failed=$((failed + 1))
    printf '%-10s FAILED; %s:\n' "$2" "$logs/$2.log"
    tail -n 40 "$logs/$2.log"
  fi
}

count=0
for target in "$@"; do
  run "$target" &
  running="$running $!:$target"
  count=$((count + 1))
  if [ "$count" -ge "$jobs" ]; then
    first=${running# }
    first=${first%% *}
    running=${running# "$first"}
    finish "${first%%:*}" "${first#*:}"
    count=$((count - 1))
  fi
done
for entry in $running; do finish "${entry%%:*}" "${entry#*:}"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
