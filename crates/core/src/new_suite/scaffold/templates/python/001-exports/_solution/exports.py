import @import@ as library

for name in sorted(dir(library)):
    if not name.startswith("_"):
        print(name)
