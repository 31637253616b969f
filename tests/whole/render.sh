#!/bin/sh
# render.sh SINEW: runs render.py in a folder of its own.
set -u
command -v python3 >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$(dirname "$0")/render.py" "$1" "$folder"
