import @import@ as library

print(hasattr(library, "@used@"))
