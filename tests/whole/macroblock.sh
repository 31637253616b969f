# macroblock.sh SINEW SHAPES ASSETS: runs macroblock.py in a folder of its own.
set -u
command -v python3 > /dev/null || exit 77
[ -d "$3/surfaces" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$(dirname "$0")/macroblock.py" "$1" "$2" "$3" "$folder"
