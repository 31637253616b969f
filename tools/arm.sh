#!/bin/sh
# arm.sh: the same program for 64-bit ARM with NEON, built by clang and run by QEMU: unit tests of kernels, of what they
# stand on and of solvers, and the golden bytes. In build-arm; libraries of that architecture are unpacked there, not
# installed. What is missing here is said (exit code 77).
set -eu
cd "$(dirname "$0")/.."
mkdir -p build-arm/debs build-arm/root
build=$PWD/build-arm

if ! command -v clang qemu-aarch64-static aarch64-linux-gnu-ld >/dev/null ||
  ! dpkg --print-foreign-architectures | grep -q '^arm64$'; then
  echo "arm: skipped; it takes clang, and as root: dpkg --add-architecture arm64 && apt-get update &&" >&2
  echo "  apt-get install --no-install-recommends gcc-aarch64-linux-gnu qemu-user-static" >&2
  exit 77
fi

libraries="libjansson4 libjansson-dev libxxhash0 libxxhash-dev libpng16-16 libpng-dev zlib1g zlib1g-dev libzstd1
  libzstd-dev libembree3-3 libembree-dev libtbb12 libtbb-dev libtbbmalloc2 libtbbbind-2-5 libhwloc15 libudev1 libcmocka0
  libcmocka-dev libcivetweb1 libcivetweb-dev libssl3 libstdc++6 libgcc-s1 libc6 libc6-dev linux-libc-dev libcrypt1"
if [ ! -e "$build/root/.made" ]; then
  # shellcheck disable=SC2046,SC2086  # a list of names is meant to split
  (cd "$build/debs" && apt-get download $(printf '%s:arm64 ' $libraries))
  for package in "$build"/debs/*.deb; do dpkg -x "$package" "$build/root"; done
  touch "$build/root/.made"
fi

tests="math_elementary math_svd3 material_law material_fiber octree_families octree_octree elasticity_kernels
  elasticity_flesh elasticity_cut solve_multigrid solve_minres solve_macroblock solve_newton geometry_solid"
[ -e "$build/build.ninja" ] || cmake --preset release -B "$build" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/arm64.cmake"
# shellcheck disable=SC2086
cmake --build "$build" --target sinew $(printf 'test_%s ' $tests)

failed=0
for name in $tests; do
  if qemu-aarch64-static -L "$build/root" "$build/tests/test_$name" >"$build/$name.log" 2>&1; then
    echo "$name passed"
  else
    failed=1
    cat "$build/$name.log"
    echo "$name FAILED"
  fi
done

printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s/root" "%s/sinew" "$@"\n' "$build" "$build" >"$build/emulated"
chmod +x "$build/emulated"
sh tests/whole/golden.sh "$build/emulated" --class fma --emulated --threads 1,2 --runs 1 || failed=1
exit $failed
