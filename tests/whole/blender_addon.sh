#!/bin/sh
# blender_addon.sh SINEW SOURCE ZIP: drives the Blender add-on headless, once from its folder
# through all it does (blender_addon.py), once installed from the zip. The user's own settings of
# Blender are not touched.
set -eu
sinew=$1
source=$2
zip=$3
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v blender >/dev/null; then
  echo "no blender: the add-on is not tested"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # run SCRIPTS STEP ARGUMENTS...: a Blender of its own; quiet unless it fails
  scripts=$1
  shift
  mkdir -p "$scripts/addons"
  if ! BLENDER_USER_SCRIPTS=$scripts BLENDER_USER_CONFIG=$work/config blender -b --factory-startup \
    --python-exit-code 1 -P "$here/blender_addon.py" -- "$@" >"$work/log" 2>&1; then
    cat "$work/log"
    exit 1
  fi
  grep '^-- ' "$work/log"
}

mkdir -p "$work/folder/addons"
ln -s "$source/blender/sinew" "$work/folder/addons/sinew"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
run "$work/folder" all "$sinew" "$work/out"
run "$work/zip" zip "$sinew" "$work/out-zip" "$zip"

package=$source/node_modules/gltf-validator
if command -v node >/dev/null && [ -d "$package" ]; then
  node "$here/gltf_validator.js" "$package" "$work"/out/*.glb
else
  echo "no node or no gltf-validator: the character files are not validated"
fi
