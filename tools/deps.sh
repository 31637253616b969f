#!/bin/sh
# deps.sh [--test] [--bench]: installs what building Sinew needs, by the names of Debian 12's packages;
# with --test also the programs that tests of the whole compare with, with --bench the solvers that
# `sinew bench peers` compares with. Does nothing when all of it is there. DEPS_SKIP=1 skips the check
# altogether, for machines set up another way.
set -eu

# library: scene files, checksums, pictures, packed arrays of FBX, packed checkpoints, ray tracing; tests;
# the web server of the viewer
libraries="libjansson-dev libxxhash-dev libpng-dev zlib1g-dev libzstd-dev libembree-dev libcmocka-dev libcivetweb-dev"
# build; second compiler with its sanitizers; lints
programs="cmake ninja-build pkg-config clang libclang-rt-14-dev clang-format clang-tidy cppcheck python3 python3-numpy"
# solvers to compare with, and a fast BLAS for them; nothing of Sinew itself links them
peers="libhypre-dev libpetsc-real-dev libsuitesparse-dev libopenblas0-serial"
# what results are held against; tests that want one are skipped without
test_programs="blender chromium ffmpeg python3-numpy python3-vtk9"
# packages of npm: the viewer's page and what makes it, without which the program has no page; those of
# the tests, which are skipped without
npm_packages="esbuild@0.28.2 three@0.187.0 playwright-core@1.65.0 gltf-validator tinyusdz@0.9.0-rc10"

[ "${DEPS_SKIP:-0}" = 0 ] || exit 0

say() { echo "deps: $*" >&2; }

install_apt() { # install_apt PACKAGE...
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p')
  missing=""
  for name in "$@"; do
    case "
$installed
" in *"
$name
"*) ;; *) missing="$missing $name" ;; esac
  done
  [ -n "$missing" ] || return 0

  root=""
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "these packages are missing, and installing them takes root or sudo. As root, run:"
      say "  apt-get install$missing"
      return 1
    fi
    root="sudo"
  fi
  say "installing$missing"
  # Package lists that are a little old often do; the installation itself decides.
  $root apt-get update -qq || say "the package lists could not be renewed; trying with those at hand"
  # shellcheck disable=SC2086  # lists of names are meant to split
  if ! $root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >&2; then
    say "apt-get could not install$missing"
    say "check the network and the package sources, then run make again"
    return 1
  fi
}

# Another system: look for what the build itself cannot do without.
check_elsewhere() {
  missing=""
  for program in cmake ninja pkg-config python3; do
    command -v "$program" >/dev/null || missing="$missing $program"
  done
  for module in jansson libxxhash libpng zlib libzstd cmocka; do
    pkg-config --exists "$module" 2>/dev/null || missing="$missing $module"
  done
  # Embree has no file for pkg-config; the build asks CMake, this the preprocessor.
  echo '#include <embree3/rtcore.h>' | "${CC:-cc}" -E - >/dev/null 2>&1 || missing="$missing embree3"
  [ -z "$missing" ] && return 0
  say "this is not a Debian system, so nothing was installed. Missing:$missing"
  say "the packages on Debian are: $libraries $programs"
  exit 1
}

# All in one call: what a call does not name, npm takes away again.
install_npm() {
  missing=""
  for name in $npm_packages; do
    [ -d "node_modules/${name%@*}" ] || missing="$missing $name"
  done
  [ -n "$missing" ] || return 0
  # shellcheck disable=SC2086
  if ! command -v npm >/dev/null; then
    say "no npm, so these are not installed:$missing; tests and the viewer's page that want them are left out"
  elif ! npm install --no-save --no-audit --no-fund $npm_packages >&2; then
    say "npm could not install$missing; tests and the viewer's page that want them are left out"
  fi
}

with_tests=0
with_peers=0
for option in "$@"; do
  case $option in
    --test) with_tests=1 ;;
    --bench) with_peers=1 ;;
    *)
      say "unknown option $option, expected --test or --bench"
      exit 1
      ;;
  esac
done

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  # Node.js often comes from elsewhere, and then brings its own npm.
  command -v npm >/dev/null || programs="$programs nodejs npm"
  # shellcheck disable=SC2086
  install_apt $libraries $programs || exit 1
  if [ $with_tests = 1 ]; then
    # shellcheck disable=SC2086
    install_apt $test_programs || say "tests that want what is missing are skipped"
  fi
  if [ $with_peers = 1 ]; then
    # shellcheck disable=SC2086
    install_apt $peers || say "peers without a package are reported as missing"
  fi
else
  check_elsewhere
fi
install_npm
