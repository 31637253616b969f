#!/bin/sh
# pictures.sh BUILD OUT: simulates every scene of scenes/ and leaves a picture of each in OUT; then the
# pictures that README and docs show, half as large, in docs/pictures. A scene that needs a file which is
# not there is named and passed over.
set -u
build=$1
out=$2
sinew=$build/sinew
failed=0
mkdir -p "$out"

fail() { # fail WHAT
  echo "failed       $1"
  failed=1
}

# ---- Every scene

for scene in scenes/*.json; do
  name=$(basename "$scene" .json)
  if ! "$sinew" check "$scene" >"$out/$name.log" 2>&1; then
    echo "passed over  $scene: $(tail -n 1 "$out/$name.log")"
  elif "$sinew" run "$scene" -o "$out/$name.run" --quiet --resume --set 'output.fields=["J"]' &&
    "$sinew" render "$out/$name.run" -o "$out/$name.png" --quiet >/dev/null; then
    echo "picture      $out/$name.png"
  else
    fail "$scene"
  fi
done

# ---- What README and docs show

show() { # show NAME RUN OPTION...: a picture of a run in docs/pictures
  name=$1
  folder=$2
  shift 2
  if [ -f "$folder/scene.json" ] && "$sinew" render "$folder" "$@" -o "$out/docs-$name.png" --quiet >/dev/null &&
    python3 tools/shrink_png.py "$out/docs-$name.png" "docs/pictures/$name.png"; then
    echo "picture      docs/pictures/$name.png"
  else
    fail "docs/pictures/$name.png"
  fi
}

# A walk, and the octree of the same animal cut open (figure 1 of Milne et al. 2016).
show creature out/demo/run --beside out/demo/skinned.pc2 --tiles 4
"$sinew" flesh out/demo/creature.glb -o "$out/slice.run" --frames 1:1 --preroll 0 --quiet \
  --set 'output.fields=["strain"]' || fail "slice.run"
show slice "$out/slice.run" --frame 1 --slice z --camera 22,12 --size 1440x1040 --quality good

show stack "$out/stack.run" --tiles 4 --size 400x400
show drop "$out/drop.run" --frames 1:24 --tiles 6 --size 300x360
show fold "$out/elbow.run" --frames 1:34 --tiles 4 --size 420x360
show twist "$out/twist.run" --frames 1:34 --tiles 3 --size 640x240 --camera 12,22
show sheet "$out/sheet.run" --frames 1:10 --tiles 3 --size 420x320 --camera 30,35
show face "$out/face.run" --frames 2:8 --tiles 3 --size 420x320 --camera 20,25
show flex "$out/flex.run" --frames 1:24 --tiles 3 --muscles --bones --size 560x400
show stride "$out/stride.run" --frames 14:38 --tiles 2 --size 500x440

# The same bar, turned, of two materials at Poisson's ratio 0.49 (figure 2 of Patterson et al. 2012).
for model in stable-neo-hookean corotated; do
  "$sinew" run scenes/twist.json -o "$out/$model" --quiet --resume --frames 1:22 --set 'output.fields=["J"]' \
    --set bodies.0.material.model=$model --set bodies.0.material.poisson=0.49 || fail "$model"
done
show incompressible "$out/stable-neo-hookean" --beside "$out/corotated" --frames 22:22 --show J \
  --camera 10,18 --size 1400x400 --quality good

# Two scenes of Mitchell et al. 2016 whose meshes are in the assets folder beside the checkout.
assets=../shared/assets
if [ -d "$assets/surfaces" ]; then
  rm -rf "$out/macroblock"
  python3 tests/whole/macroblock.py "$sinew" "$build/samples/shapes" "$assets" "$out/macroblock" \
    --only armadillo_quasistatic,human_quasistatic || fail "macroblock.py"
  show armadillo "$out/macroblock/armadillo_quasistatic" --tiles 3 --size 420x420
  show human "$out/macroblock/human_quasistatic" --tiles 3 --size 420x420
else
  echo "passed over  docs/pictures/armadillo.png and human.png: no $assets"
fi

# Benchmarks draw their plots themselves.
if "$sinew" bench convergence -o "$out/bench" --max-elements 300000 >"$out/bench.log" 2>&1 &&
  "$sinew" bench growth -o "$out/bench" --max-elements 1200000 >>"$out/bench.log" 2>&1; then
  for plot in convergence-iterations growth-elements growth-bytes; do
    cp "$out/bench/$plot.png" "docs/pictures/$plot.png" && echo "picture      docs/pictures/$plot.png"
  done
else
  fail "sinew bench: $(tail -n 1 "$out/bench.log")"
fi
exit $failed
