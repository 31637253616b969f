#!/bin/sh
# pictures.sh BUILD OUT: simulates every scene of scenes/ and leaves a picture of each in OUT.
# A scene that needs a file which is not there is named and passed over. The picture of the last demo,
# half as large, becomes docs/pictures/creature.png; those of some scenes go beside it.
set -u
build=$1
out=$2
failed=0
mkdir -p "$out"
if python3 tools/shrink_png.py out/demo/sheet.png docs/pictures/creature.png; then
  echo "picture      docs/pictures/creature.png"
else
  failed=1
fi
for scene in scenes/*.json; do
  [ -e "$scene" ] || continue
  name=$(basename "$scene" .json)
  if ! "$build/sinew" check "$scene" >"$out/$name.log" 2>&1; then
    echo "passed over  $scene: $(tail -n 1 "$out/$name.log")"
    continue
  fi
  if "$build/sinew" run "$scene" -o "$out/$name.run" --quiet &&
    "$build/sinew" render "$out/$name.run" -o "$out/$name.png"; then
    echo "picture      $out/$name.png"
    case $name in
    stack | elbow | flex) python3 tools/shrink_png.py "$out/$name.png" "docs/pictures/$name.png" ;;
    esac
  else
    echo "failed       $scene"
    failed=1
  fi
done
exit $failed
