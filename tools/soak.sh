#!/bin/sh
# soak.sh BUILD [NAME...]: the long tests, which take minutes to hours; `make soak`. One line for each campaign: its
# name and how it is run. Those that are named, or all. Exits non-zero if one of them fails.
set -u
build=$1
shift
only=" $* "
failed=""

campaign() { # campaign NAME COMMAND...
  name=$1
  shift
  case "$only" in "  " | *" $name "*) ;; *) return ;; esac
  echo "soak: $name"
  begin=$(date +%s)
  "$@"
  code=$?
  echo "soak: $name ended with $code after $(($(date +%s) - begin)) s"
  [ $code = 0 ] || [ $code = 77 ] || failed="$failed $name"
}

campaign faults sh tests/whole/faults.sh "$build/tests/whole/sinew_faults" --all

[ -z "$failed" ] || echo "soak: failed:$failed"
[ -z "$failed" ]
