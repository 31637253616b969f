#!/bin/sh
# viewer.sh SINEW SHAPES SOURCE OUT [--scrub]: the viewer in a real browser, see viewer.mjs. Screenshots are
# left in OUT. CHROMIUM names another browser than the one in the path.
set -u
sinew=$1
shapes=$2
source=$3
out=$4
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if ! command -v node >/dev/null || [ -z "$chromium" ] || [ ! -d "$source/node_modules/playwright-core" ]; then
  echo "no node, no chromium, or no playwright-core in node_modules (tools/deps.sh --test installs them)"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if "$sinew" view "$folder/none" 2>&1 | grep -q "built without the viewer's page"; then
  echo "this program was built without the viewer's page (node, esbuild or three was missing)"
  exit 77
fi
mkdir -p "$folder/meshes" "$out"
"$shapes" "$folder/meshes" >/dev/null || exit 1
node "$(dirname "$0")/viewer.mjs" "$sinew" "$source" "$chromium" "$folder" "$out" "${5:-}"
