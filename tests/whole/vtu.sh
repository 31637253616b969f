#!/bin/sh
# vtu.sh SINEW: a run with fields, exported for ParaView and read back with VTK.
set -u
here=$(dirname "$0")
for python in /usr/bin/python3 python3; do
  if "$python" -c 'import numpy, vtk' 2>/dev/null; then
    exec "$python" "$here/vtu.py" "$1"
  fi
done
echo "skipped: no Python with VTK and NumPy (Debian: python3-vtk9, python3-numpy)"
exit 77
