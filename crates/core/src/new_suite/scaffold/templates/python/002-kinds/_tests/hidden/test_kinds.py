import importlib
import os
import subprocess
import sys
import unittest

# The library is the one in the workspace, also where another one is installed. No other file of the workspace takes the
# place of a module of Python.
at = next((at for at, path in enumerate(sys.path) if path.endswith("-packages")), len(sys.path))
sys.path.insert(at, os.getcwd())
library = importlib.import_module("@import@")
sys.path.remove(os.getcwd())
# The work cannot read this file: see $TERCA_WORK.
start = [word for word in (os.environ.get("TERCA_WORK"), sys.executable) if word]


def kind(name):
    work = subprocess.run([*start, "kinds.py", name], capture_output=True, text=True)
    return work.stdout.strip(), work.returncode


class Kinds(unittest.TestCase):
    def test_a_name_that_is_not_there_is_missing(self):
        self.assertEqual(kind("no_such_name"), ("missing", 1))

    def test_each_name_has_its_kind(self):
        names = [name for name in dir(library) if not name.startswith("_")]
        # Each of them is a process.
        for name in names[:20]:
            with self.subTest(name):
                self.assertEqual(kind(name), (type(getattr(library, name)).__name__, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
