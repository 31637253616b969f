#!/bin/sh
# viewer_modules.sh SINEW SHAPES SOURCE: parts of the viewer's page that need no browser, on the cells of a
# real run; see viewer_modules.mjs.
set -u
if ! command -v node >/dev/null || [ ! -d "$3/node_modules/three" ]; then
  echo "no node, or no three in node_modules (tools/deps.sh installs them)"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/meshes"
"$2" "$folder/meshes" >/dev/null || exit 1
cat >"$folder/scene.json" <<'EOF'
{"sinew": 1, "frames": [1, 2], "gravity": 0,
 "bodies": [{"name": "pear", "surface": "meshes/pear.obj", "cell": 0.0115}],
 "output": {"fields": ["strain", "J", "contacts"]}}
EOF
"$1" run "$folder/scene.json" -o "$folder/run" --quiet || exit 1
node "$(dirname "$0")/viewer_modules.mjs" "$3" "$folder/run"
