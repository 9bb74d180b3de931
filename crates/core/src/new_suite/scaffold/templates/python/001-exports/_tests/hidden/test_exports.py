"""The library that the suite put into the workspace says what is right.

The work runs in a process of its own, so that it cannot end this test early.
"""

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


class Exports(unittest.TestCase):
    def test_every_public_name_is_listed(self):
        work = subprocess.run([*start, "exports.py"], capture_output=True, text=True)
        self.assertEqual(work.returncode, 0, work.stderr)
        expected = sorted(name for name in dir(library) if not name.startswith("_"))
        self.assertEqual(work.stdout.split(), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
