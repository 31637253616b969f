# python.sh SOURCE LIBRARY SINEW LAYOUT: the tests of the Python package, with the first Python that has
# NumPy; and the types, where mypy is installed.
set -u
source=$1
for python in python3 /usr/bin/python3 none; do
  "$python" -c 'import numpy' 2>/dev/null && break
done
if [ "$python" = none ]; then
  echo "no Python with NumPy: skipped (Debian: python3-numpy)"
  exit 77
fi
SINEW_LIBRARY=$2 SINEW_PROGRAM=$3 SINEW_LAYOUT=$4 PYTHONPATH=$source/python PYTHONDONTWRITEBYTECODE=1
export SINEW_LIBRARY SINEW_PROGRAM SINEW_LAYOUT PYTHONPATH PYTHONDONTWRITEBYTECODE
"$python" -W error::ResourceWarning "$source/python/tests/test_sinew.py" || exit 1
if command -v mypy >/dev/null; then
  cd "$source/python" && mypy --strict --python-executable "$(command -v "$python")" \
    --cache-dir /dev/null sinew || exit 1
else
  echo "mypy is not installed: types were not checked"
fi
