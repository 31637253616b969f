#!/bin/sh
# install.sh BUILD CC: installs a build into a folder of its own, moves that folder, then builds and
# runs a stranger's program against it, found by pkg-config and by find_package.
set -eu
build=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { echo "-- $*"; }

step "install below DESTDIR, then move the tree"
DESTDIR=$work/stage cmake --install "$build" --prefix /opt/sinew >"$work/log" || {
  cat "$work/log"
  exit 1
}
prefix=$work/moved
mv "$work/stage/opt/sinew" "$prefix"
if [ -x "$build/sinew" ]; then
  step "the program runs"
  "$prefix/bin/sinew" --version
fi

step "pkg-config, shared"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sinew.pc)")
export PKG_CONFIG_PATH
libdir=$(cd "$(pkg-config --variable=libdir sinew)" && pwd)
version=$(pkg-config --modversion sinew)
# shellcheck disable=SC2046  # several options each
"$cc" -std=c17 -Wall -Wextra -Werror "$here/install/main.c" -o "$work/shared" \
  $(pkg-config --cflags --libs sinew) "-Wl,-rpath,$libdir"
"$work/shared" "$version"

step "pkg-config, static"
# shellcheck disable=SC2046
"$cc" -std=c17 "$here/install/main.c" -o "$work/static" $(pkg-config --cflags sinew) \
  "$libdir/libsinew.a" $(pkg-config --libs --static sinew | sed 's/-lsinew\>//')
"$work/static" "$version"

step "the sample of docs/hello.md, shared"
source=$here/../..
# shellcheck disable=SC2016  # backquotes of Markdown
sed -n '/^```c$/,/^```$/p' "$source/docs/hello.md" | sed '1d;$d' >"$work/hello.c"
cmp "$work/hello.c" "$source/samples/hello.c" || {
  echo "docs/hello.md does not show samples/hello.c"
  exit 1
}
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Werror "$work/hello.c" -o "$work/hello" \
  $(pkg-config --cflags --libs sinew) "-Wl,-rpath,$libdir"
"$work/hello" >"$work/heights"
tail -n 1 "$work/heights"
[ "$(wc -l <"$work/heights")" = 24 ]
# It falls, and comes to rest a little lower than it was made.
awk '{ h = $(NF - 1) } NR == 1 && h < 0.69 { exit 1 } END { exit !(h > 0.15 && h < 0.2) }' "$work/heights"

step "find_package, shared and static"
cmake -S "$here/install" -B "$work/build" -G Ninja -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" && cmake --build "$work/build" >>"$work/log" || {
  cat "$work/log"
  exit 1
}
"$work/build/with_shared" "$version"
"$work/build/with_static" "$version"
"$work/build/hello" | cmp - "$work/heights"

step "Python"
for python in python3 /usr/bin/python3 none; do
  "$python" -c 'import numpy' 2>/dev/null && break
done
if [ "$python" = none ]; then
  echo "no Python with NumPy: skipped"
else
  found=$(cd "$work" && env -u SINEW_LIBRARY PYTHONPATH="$prefix/share/sinew/python" PYTHONDONTWRITEBYTECODE=1 \
    "$python" -c 'import sinew; print(sinew.library_path(), sinew.library_version())')
  echo "$found"
  case "$found" in "$libdir"/*" $version") ;; *) exit 1 ;; esac
  [ -f "$prefix/share/sinew/python/sinew/py.typed" ]
fi
