# __import__ with a name put together at run time.
# effect: run
__import__("o" + "s").system("cat @SECRET@")
