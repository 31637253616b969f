#!/bin/sh
# lint.sh BUILD: every check that needs no test run. Goes through all of them, then says which failed.
# BUILD is a configured build folder, for the compile commands.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
jobs=$(nproc 2>/dev/null || echo 2)
failed=""

check() { # check NAME COMMAND...
  name=$1
  shift
  echo "== $name"
  "$@" || failed="$failed $name"
}

sources() { # sources FOLDER...: the C files below these folders
  for folder in "$@"; do [ ! -d "$folder" ] || find "$folder" -name '*.[ch]'; done | sort
}

scripts() { # the viewer's page
  [ ! -d web ] || find web/src web/build.mjs -name '*.js' -o -name '*.mjs' | sort
}

formatted() {
  unformatted=$( { sources include src cli samples peers tests fuzz; scripts; } |
    xargs -r clang-format --dry-run 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:.*/\1/p' | sort -u)
  [ -z "$unformatted" ] && return 0
  echo "to be formatted by make format:"
  echo "$unformatted" | sed 's/^/  /'
  return 1
}

# Where a warning is wrong, `// cppcheck-suppress NAME` above the line, with the reason. Uninitialised
# variables are left to the compilers: cppcheck does not see an array filled in a loop. Nor does it know the
# size of a vector, so that in the kernels it takes arrays of them for empty ones.
run_cppcheck() {
  mkdir -p "$build/cppcheck"
  sources src cli samples | grep '\.c$' | cppcheck --file-list=- --quiet -j "$jobs" \
    --cppcheck-build-dir="$build/cppcheck" --std=c11 --error-exitcode=1 \
    --enable=warning,performance,portability --inline-suppr --suppress=missingIncludeSystem --suppress=uninitvar \
    --suppress='ctuArrayIndex:*_impl.h' \
    --template='{file}:{line}: {id}: {message}' -D_GNU_SOURCE -D__GNUC__=12 -I include -I src
}

# A source file that is in no list of a CMakeLists.txt is an error too. What peers/ has of these
# depends on the packages at hand, so it is left out here.
run_clang_tidy() {
  ninja -C "$build" build.ninja >/dev/null || return 1
  built=""
  for file in $(sources src cli samples | grep '\.c$'); do
    if ! grep -qF "/$file\"" "$build/compile_commands.json"; then
      echo "$file: not in the build; name it in CMakeLists.txt"
      return 1
    fi
    built="$built $file"
  done
  echo "$built" | xargs -r -P "$jobs" -n 2 clang-tidy -p "$build" --quiet 2>"$build/clang-tidy.log"
}

check format formatted
check layers python3 tools/check_layers.py
check rules python3 tools/check_code.py
check cppcheck run_cppcheck
check clang-tidy run_clang_tidy

if [ -n "$failed" ]; then
  echo "lint: failed:$failed"
  exit 1
fi
echo "lint: clean"
