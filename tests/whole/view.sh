# view.sh SINEW: runs view.py in a folder of its own.
set -u
command -v python3 > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$(dirname "$0")/view.py" "$1" "$folder"
