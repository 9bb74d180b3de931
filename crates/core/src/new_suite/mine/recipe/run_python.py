"""Runs tests with pytest or unittest: RUNNER REPORT FILE...

Python is started with -I, and runners are imported before the workspace is searched for modules, so that no file of the
workspace takes their place. The report is written at the end: a process that the work has ended leaves none.
"""

import importlib.util
import os
import sys
import unittest

runner, report, files = sys.argv[1], sys.argv[2], sys.argv[3:]
if runner == "pytest":
    import pytest

# A project that is installed is found as an agent finds it.
is_installed = sys.prefix != sys.base_prefix and any(map(os.path.exists, ("pyproject.toml", "setup.py")))
own = [os.getcwd()] if is_installed else [os.path.abspath("src"), os.getcwd()]
at = next((at for at, path in enumerate(sys.path) if path.endswith("-packages")), len(sys.path))
sys.path[at:at] = filter(os.path.isdir, own)


def loaded(file):
    loader = unittest.defaultTestLoader
    directory, name = os.path.split(file)
    if not directory:
        # Its name may be that of a module of Python, such as `test`.
        spec = importlib.util.spec_from_file_location(name[: -len(".py")], file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return loader.loadTestsFromModule(module)
    if os.path.exists(os.path.join(directory, "__init__.py")):
        return loader.loadTestsFromName(file[: -len(".py")].replace(os.sep, "."))
    return loader.discover(directory, pattern=name)


class Result(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ended = []

    def stopTest(self, test):
        super().stopTest(test)
        # A subtest that failed is noted with its test.
        bad = (getattr(case, "test_case", case) for case, _ in self.failures + self.errors)
        skipped = any(case is test for case, _ in self.skipped)
        word = "not ok" if any(case is test for case in bad) else "ok"
        self.ended.append((word, test.id(), " # SKIP" if skipped else ""))


if runner == "pytest":
    options = ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--junitxml", report]
    sys.exit(pytest.main([*options, *files]))
result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(unittest.TestSuite(map(loaded, files)))
with open(report, "w") as file:
    file.write(f"TAP version 13\n1..{len(result.ended)}\n")
    for number, (word, name, skip) in enumerate(result.ended, 1):
        file.write(f"{word} {number} - {name}{skip}\n")
sys.exit(not result.wasSuccessful())
