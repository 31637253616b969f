# faults.sh SINEW_FAULTS [--all] [TEST...]: runs faults.py in a folder of its own, in memory where there is such a
# place.
set -u
command -v python3 > /dev/null || exit 77
folder=$(mktemp -d -p /dev/shm 2> /dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=$1
shift
python3 "$(dirname "$0")/faults.py" "$program" "$folder" "$@"
