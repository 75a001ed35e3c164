# A relative import, in a namespace that claims to be in the package os.
# effect: run
exec("from . import system\nsystem('cat @SECRET@')", {"__package__": "os", "__name__": "os.x"})
