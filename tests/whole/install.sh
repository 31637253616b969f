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
libdir=$(pkg-config --variable=libdir sinew)
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

step "find_package, shared and static"
cmake -S "$here/install" -B "$work/build" -G Ninja -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" && cmake --build "$work/build" >>"$work/log" || {
  cat "$work/log"
  exit 1
}
"$work/build/with_shared" "$version"
"$work/build/with_static" "$version"
