import sys

import @import@ as library

name = sys.argv[1]
if hasattr(library, name):
    print(type(getattr(library, name)).__name__)
else:
    print("missing")
    sys.exit(1)
