# scenes.sh SINEW SHAPES CREATURE [OPTION...]: runs scenes.py in a folder of its own; with --jitter N on moved meshes.
set -u
command -v python3 > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sinew=$1 shapes=$2 creature=$3
shift 3
python3 "$(dirname "$0")/scenes.py" "$sinew" "$shapes" "$creature" "$folder" --quick "$@"
