#!/bin/sh
# checks.sh SOURCE: the lints find what they are for. A small tree breaks each rule once; each breach
# must be named with its file and line, and nothing else may be.
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p include/sinew src/base src/math src/solve src/elasticity cli
cp -r "$source/tools" .
failed=0

cat >include/sinew/math.h <<'END'
/// Told.
int sn_told(void);

int sn_untold(void);
END
cat >src/solve/cg.c <<'END'
#include "base/status.h"
#include "elasticity/cell.h"
#include "sinew/io.h"
#include "solve/cg.h"
// sin(x) in a comment and "sin(x)" in a text are fine
double f(double x) { return sin(x) + sn_sin(x) + sqrt(x) + o.exp(x) + p->exp(x); }
END
cat >src/math/elementary.c <<'END'
#include "solve/cg.h"
double g(double x) { return exp(x); }
END
cat >src/base/log.c <<'END'
void h(char* s) { strcpy(s, "x"); free(s); }
END
cat >cli/main.c <<'END'
#include "main.h"
#include "sinew/math.h"
#include "base/status.h"
int main(void) { return atoi("1"); } // FIX
END
touch cli/main.h
sed -i 's|// FIX|// FIX''ME|' cli/main.c

expect() { # expect OUTPUT PLACE...: these places are named, in this order, and no others
  output=$1
  shift
  found=$(sed -n 's/^\.\{0,1\}\/\{0,1\}\([a-z_/]*\.[ch]:[0-9]*\): .*/\1/p' "$output" | tr '\n' ' ')
  if [ "$found" != "$* " ]; then
    echo "expected: $*"
    echo "found:    $found"
    cat "$output"
    failed=1
  fi
}

if python3 tools/check_layers.py >layers.out; then failed=1; fi
expect layers.out src/math/elementary.c:1 src/solve/cg.c:2 src/solve/cg.c:3 cli/main.c:3
if python3 tools/check_code.py >code.out; then failed=1; fi
expect code.out cli/main.c:4 include/sinew/math.h:4 src/base/log.c:1 src/base/log.c:1 \
  src/solve/cg.c:6 cli/main.c:4

# Counting: three tests pass, one crashes, one is skipped, one program could not start.
cat >tests.xml <<'END'
<testsuite>
<testcase name="a" status="run"><system-out>[ RUN      ] one
[       OK ] one
[ RUN      ] two
[  SKIPPED ] two
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] two
</system-out></testcase>
<testcase name="b" status="fail"><failure message=""/><system-out>[ RUN      ] one
[       OK ] one
[ RUN      ] two
</system-out></testcase>
<testcase name="c" status="run"><system-out>done</system-out></testcase>
<testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>
END
if python3 tools/count_tests.py tests.xml >count.out; then failed=1; fi
if [ "$(cat count.out)" != "3 passed, 2 failed, 1 skipped" ]; then
  cat count.out
  failed=1
fi
exit $failed
