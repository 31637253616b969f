#!/bin/sh
# blender_rig.sh CHARACTER_POSE: the vertices of rigs that Blender exports are where Blender has them.
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v blender >/dev/null; then
  echo "skipped: no blender"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Settings and caches of the user are left alone.
HOME=$work blender -b --factory-startup --python-exit-code 1 -P "$here/blender_rig.py" -- \
  "$program" "$work" >"$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
grep "of the size" "$work/log"
