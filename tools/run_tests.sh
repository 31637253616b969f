#!/bin/sh
# run_tests.sh BUILD [CTEST OPTIONS]: runs CTest in a build folder, then counts the single tests.
# The last line of the output reads `N passed, N failed`; exits non-zero if any failed.
set -u
build=$1
shift
report=$build/tests.xml
rm -f "$report"
# The counts come from the tests' output, so none of it may be cut.
ctest --test-dir "$build" --output-on-failure --output-junit tests.xml --no-tests=error \
  --test-output-size-passed 100000000 --test-output-size-failed 100000000 "$@"
status=$?
python3 "$(dirname "$0")/count_tests.py" "$report" || status=1
exit $status
