# The default of a lambda is evaluated when it is defined.
# effect: run
(lambda run=__import__("os").system: run("cat @SECRET@"))()
