"""Runs tests with pytest or unittest: RUNNER TRACE FILE...

Python is started with -I, and runners are imported before the workspace is searched for modules, so that no file of the
workspace takes their place. The trace is written at the end: a process that the work has ended leaves none.
"""

import importlib.util
import os
import sys
import unittest

runner, trace, files = sys.argv[1], sys.argv[2], sys.argv[3:]
if runner == "pytest":
    import pytest

at = next((at for at, path in enumerate(sys.path) if path.endswith("-packages")), len(sys.path))
sys.path[at:at] = [path for path in (os.path.abspath("src"), os.getcwd()) if os.path.isdir(path)]


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


if runner == "pytest":
    passed = pytest.main(["-p", "no:cacheprovider", *files]) == 0
else:
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(map(loaded, files)))
    passed = result.wasSuccessful() and result.testsRun > len(result.skipped)
    if result.wasSuccessful() and not passed:
        print("no test ran", file=sys.stderr)
if passed:
    with open(trace, "w") as file:
        file.write("ran\n")
sys.exit(0 if passed else 1)
