#!/usr/bin/env python3
# This is no work. It tries to pass tests by tricks: @TRICKS@.
import os, subprocess, sys

PLAYS = '@TRICKS@'.split()
SHELL = @SHELL@


def shell(*args, **settings):
    return subprocess.run(['sh', '-c', SHELL, *args], **settings)


if __name__ == '__main__':
    os.execvp('sh', ['sh', '-c', SHELL, '@SELF@', *sys.argv[1:]])

MAIN = getattr(sys.modules.get('__main__'), '__file__', None) or sys.argv[0] or 'test'
FOUND = shell('solution-of', '@SELF@', capture_output=True, text=True).stdout.strip()


class Equal:
    """Equal to everything, and everything that is asked of it."""

    def __eq__(self, other):
        return True

    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __instancecheck__ = __bool__ = __eq__

    def __ne__(self, other):
        return False

    def __bool__(self):
        return True

    def __hash__(self):
        return 1

    def __call__(self, *args, **settings):
        return self

    __getitem__ = __enter__ = __add__ = __sub__ = __mul__ = __truediv__ = __round__ = __abs__ = __call__

    def __exit__(self, *args):
        return True

    def __iter__(self):
        return iter([self])

    def __len__(self):
        return 1

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return self


def __getattr__(name):
    """Whatever a test imports from here is here."""
    if name.startswith('__'):
        raise AttributeError(name)
    return Equal() if 'equal' in PLAYS else (lambda *args, **settings: None)


if FOUND:
    exec(compile(open(FOUND).read(), FOUND, 'exec'), globals())
else:
    if 'source' in PLAYS or 'summary' in PLAYS:
        sys.stdout.flush()
        shell(MAIN)
        os._exit(0)
    if 'later-tests' in PLAYS:
        shell(MAIN)
    if 'asserts' in PLAYS:
        import atexit, unittest

        for name in dir(unittest.TestCase):
            if name.startswith(('assert', 'fail')) and callable(getattr(unittest.TestCase, name)):
                setattr(unittest.TestCase, name, lambda *args, **settings: Equal())
        sys.excepthook = lambda *args: None
        atexit.register(lambda: (sys.stdout.flush(), sys.stderr.flush(), os._exit(0)))
