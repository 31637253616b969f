#!/bin/sh
# headers.sh INCLUDE CC: each public header, alone, is valid pedantic C17 and C++17.
set -u
include=$1
cc=$2
failed=0

compile() { # compile HEADER COMPILER OPTIONS...
  header=$1
  shift
  printf '#include "sinew/%s"\n#include "sinew/%s"\n' "$header" "$header" |
    "$@" -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$include" - || {
    echo "sinew/$header is refused by: $*"
    failed=1
  }
}

cxx=""
for name in g++ clang++ c++; do
  if command -v $name >/dev/null; then
    cxx=$name
    break
  fi
done

for path in "$include"/sinew/*.h; do
  header=$(basename "$path")
  compile "$header" "$cc" -std=c17 -Wstrict-prototypes -x c
  [ -z "$cxx" ] || compile "$header" "$cxx" -std=c++17 -x c++
done
[ $failed = 0 ] || exit 1
if [ -z "$cxx" ]; then
  echo "no C++ compiler: C++17 was not tried"
  exit 77
fi
