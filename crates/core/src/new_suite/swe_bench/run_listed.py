"""Runs files with pytest and asks for the tests of a list: TRACE LIST FILE...

Python is started with -I, and pytest is imported before the workspace is searched for modules. A name of the list is that of
a test, or of a function in one of the files. Lists of benchmarks cut a name at its first space.
"""

import json
import os
import sys

import pytest

trace, wanted, files = sys.argv[1], sys.argv[2], sys.argv[3:]
at = next((at for at, path in enumerate(sys.path) if path.endswith("-packages")), len(sys.path))
sys.path[at:at] = [path for path in (os.path.abspath("src"), os.getcwd()) if os.path.isdir(path)]


class Outcomes:
    def __init__(self):
        self.passed = {}

    def pytest_runtest_logreport(self, report):
        is_expected = hasattr(report, "wasxfail")
        if report.failed and not is_expected:
            self.note(report.nodeid, False)
        elif report.when == "call" and (report.passed or is_expected):
            self.note(report.nodeid, True)

    def note(self, name, passed):
        whole = name.split(" ")[0]
        for key in (name, whole, whole.split("::")[-1], whole.split("::")[-1].split("[")[0]):
            self.passed[key] = self.passed.get(key, True) and passed


outcomes = Outcomes()
with open(wanted) as file:
    names = json.load(file)
pytest.main(["-p", "no:cacheprovider", "-q", *files], plugins=[outcomes])
missing = [name for name in names if not outcomes.passed.get(name, outcomes.passed.get(name.split(" ")[0], False))]
for name in missing[:20]:
    print(f"FAILED {name}", file=sys.stderr)
print(f"{len(names) - len(missing)} of {len(names)} listed tests passed")
if names and not missing:
    with open(trace, "w") as file:
        file.write("ran\n")
sys.exit(1 if missing or not names else 0)
