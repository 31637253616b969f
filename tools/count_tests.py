#!/usr/bin/env python3
"""Counts single tests in a JUnit report of CTest.

A cmocka program is one case to CTest; its own tests are counted from its output. Any other program
is one test. A test that started and neither passed nor was skipped has failed, so a crash counts.
"""
import re
import sys
import xml.etree.ElementTree as ET

RUN = re.compile(r"^\[ RUN      \] (.+)$", re.M)
OK = re.compile(r"^\[       OK \] (.+)$", re.M)
SKIPPED = re.compile(r"^\[  SKIPPED \] (?!\d+ test\(s\))(.+)$", re.M)


def count_case(case):
    """(passed, failed, skipped) of one CTest case."""
    output = case.findtext("system-out") or ""
    started = len(RUN.findall(output))
    passed = len(OK.findall(output))
    # cmocka names skipped tests twice: as they happen, and in its summary.
    skipped = min(len(set(SKIPPED.findall(output))), started - passed)
    failed = started - passed - skipped
    not_run = case.find("skipped")
    if not_run is not None and re.match("SKIP_|Disabled", not_run.get("message", "")):
        return 0, 0, 1
    # CTest also files a program that it could not start under "skipped".
    if not_run is not None or case.find("failure") is not None:
        return passed, max(failed, 1), skipped
    if started == 0:
        return 1, 0, 0
    return passed, failed, skipped


def main():
    try:
        cases = ET.parse(sys.argv[1]).getroot().findall("testcase")
    except (OSError, ET.ParseError) as error:
        print(f"count_tests: {error}", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    totals = [sum(column) for column in zip(*map(count_case, cases))] or [0, 0, 0]
    passed, failed, skipped = totals
    line = f"{passed} passed, {failed} failed"
    if skipped:
        line += f", {skipped} skipped"
    print(line)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
