#!/bin/sh
# flesh.sh SOURCE SINEW CREATURE DISTANCE: `sinew flesh` on rigs made here, on the demo character, and on a few
# of the assets folder where there is one. See flesh.py.
set -eu
exec python3 "$(dirname "$0")/flesh.py" "$@"
