#!/bin/sh
# gltf_validator.sh PROGRAM SOURCE: the Khronos validator finds no error in the files that our writer
# makes. PROGRAM is gltf_files; files of the assets folder are written again where there is one.
set -eu
program=$1
source=$2
package=$source/node_modules/gltf-validator
if ! command -v node >/dev/null || [ ! -d "$package" ]; then
  echo "no node, or no gltf-validator in node_modules (tools/deps.sh installs it)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

set --
for file in "$source"/../shared/assets/rigged/*.gl*; do
  [ ! -f "$file" ] || set -- "$@" "$file"
done
"$program" "$work" "$@"
node "$(dirname "$0")/gltf_validator.js" "$package" "$work"/*.glb
