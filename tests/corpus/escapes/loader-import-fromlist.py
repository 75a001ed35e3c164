# __import__ with a fromlist returns the submodule.
# effect: run
__import__("os", fromlist=["system"]).system("cat @SECRET@")
