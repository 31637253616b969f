#!/bin/sh
# creature.sh CREATURE SINEW: the demo character from its file to frames. It is made, read and, with
# large cells, simulated for six frames, which all converge; the thread count changes no bit. With exact cut
# cells defect correction takes at most half as many Newton steps more.
set -eu
creature=$1
sinew=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "$*"
  exit 1
}

"$creature" .
"$sinew" check scene.json >check.out 2>&1 || fail "check: $(cat check.out)"
! grep -i warning check.out || fail "the scene has warnings"

for threads in 1 2; do
  "$sinew" run scene.json -o "run$threads" --quiet --set bodies.0.cell=0.023 --frames 1:6 \
    --threads "$threads" 2>"run$threads.log" || fail "run: $(cat "run$threads.log")"
  converged=$(grep -c '"converged": true' "run$threads/stats.jsonl") || true
  [ "$converged" = 6 ] || fail "$converged of 6 frames converged: $(cat "run$threads/stats.jsonl")"
done
cmp run1/creature.pc2 run2/creature.pc2 || fail "one and two threads differ"

# Name, version, vertices, first frame and step, as in the cache of the plain skinning.
cmp -n 28 skinned.pc2 run1/creature.pc2 || fail "the simulated cache is not one of the skinned mesh"
"$sinew" render run1 --beside skinned.pc2 -o sheet.png >render.out 2>&1 ||
  fail "render: $(cat render.out)"

# Defect correction: steps with simpler products for cut cells against those with exact ones.
for sharp in false true; do
  "$sinew" run scene.json -o "sharp-$sharp" --quiet --set bodies.0.cell=0.023 --frames 1:6 --threads 1 \
    --set bodies.0.quadrature=2 --set "solver.newton.sharp=$sharp" 2>sharp.log ||
    fail "run: $(cat sharp.log)"
  ! grep '"converged": false' "sharp-$sharp/stats.jsonl" || fail "quadrature 2, sharp $sharp: not all frames converged"
done
steps() { sed 's/.*"newton": \([0-9]*\).*/\1/' "$1/stats.jsonl" | awk '{ sum += $1 } END { print sum }'; }
plain=$(steps sharp-false)
exact=$(steps sharp-true)
echo "quadrature 2: $plain Newton steps, $exact with sharp products"
[ $((2 * plain)) -le $((3 * exact)) ] || fail "$plain Newton steps, more than 1.5 times $exact"
