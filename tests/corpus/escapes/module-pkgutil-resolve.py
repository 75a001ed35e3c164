# pkgutil.resolve_name imports by name.
# effect: run
import pkgutil
pkgutil.resolve_name("os:system")("cat @SECRET@")
