# scenes.sh SINEW SHAPES CREATURE: runs scenes.py in a folder of its own, then again on moved meshes.
set -u
command -v python3 > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run() { python3 "$(dirname "$0")/scenes.py" "$@" --quick; }
run "$1" "$2" "$3" "$folder" && run "$1" "$2" "$3" "$folder" --jitter 1
