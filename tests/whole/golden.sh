# golden.sh SINEW: the same bytes on any number of threads, and as ever; runs golden.py in a folder of its own.
set -u
command -v python3 > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$(dirname "$0")/golden.py" "$folder" "$@"
