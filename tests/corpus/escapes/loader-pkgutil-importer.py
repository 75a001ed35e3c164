# pkgutil gives the importer of a path.
# effect: run
import os
import pkgutil
pkgutil.get_loader("posix").load_module("posix").system("cat @SECRET@")
