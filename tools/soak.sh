#!/usr/bin/env bash
# soak.sh BUILD [NAME...]: long campaigns, for the night before a release; `make soak`. One line for each: its name and
# how it is run. Those that are named, or all; goes through them even when one fails. The last line counts.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
only=" $* "
passed=0
failed=0

campaign() { # campaign NAME COMMAND...
  local name=$1 start=$SECONDS status=ok code=0
  shift
  case "$only" in "  " | *" $name "*) ;; *) return ;; esac
  printf '\n==== %s\n' "$name"
  "$@" || code=$?
  if [[ $code == 0 || $code == 77 ]]; then passed=$((passed + 1)); else failed=$((failed + 1)) status=FAILED; fi
  printf '%s: %s, %d s\n' "$name" "$status" $((SECONDS - start))
}

# other_build FOLDER OPTION...: the program as another compiler makes it.
other_build() {
  local folder=$1
  shift
  cmake --preset release -B "$folder" -DBUILD_TESTING=OFF "$@" > /dev/null && cmake --build "$folder" --target sinew
}

compilers() {
  other_build build-gcc-O2 -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=RelWithDebInfo &&
    other_build build-gcc-O3 -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release &&
    other_build build-clang-O2 -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo &&
    sh tests/whole/golden.sh build-{gcc-O2,gcc-O3,clang-O2}/sinew --runs 1
}

plain() {
  other_build build-plain -DSN_PLAIN_KERNELS=ON && sh tests/whole/golden.sh build-plain/sinew --class plain --runs 1
}

# All trials of all unit tests, then the program as a whole. Left out: what the sanitizers' own memory or run-time library
# rules out (farm limits the address space, golden watches what is resident; install and python load the library into
# programs without it), what runs nothing of ours (checks, headers), and what would take hours.
sanitize() {
  SN_THOROUGH=1 make --no-print-directory sanitize SANITIZED='-LE ^whole$' && cmake --build build-sanitize &&
    tools/run_tests.sh build-sanitize -j1 --timeout 3000 -L whole \
      -E '^whole/(farm|golden|install|python|checks|headers|bench|scenes|macroblock|flesh|viewer)$'
}

campaign faults sh tests/whole/faults.sh "$build/tests/whole/sinew_faults" --all
campaign recovery env SN_SOAK=1 "$build/tests/test_scene_recovery"
campaign extremes env SN_SOAK=1 "$build/tests/test_scene_extremes"
campaign materials env SN_SOAK=1 "$build/tests/test_scene_materials"
campaign endurance env SN_SOAK=1 "$build/tests/test_scene_endurance"
campaign steps sh tests/whole/golden.sh "$build/sinew" --soak
campaign compilers compilers
campaign jitter sh tests/whole/scenes.sh "$build/sinew" "$build"/samples/{shapes,creature} --jitter 10
campaign sanitize sanitize
campaign fuzz make --no-print-directory fuzz SECONDS=1200
campaign plain plain
campaign arm tools/arm.sh

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[[ $failed == 0 ]]
