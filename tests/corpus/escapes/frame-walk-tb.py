# traceback.walk_tb hands out frames.
# effect: run
import traceback
try:
    raise ValueError
except ValueError as error:
    for frame, _ in traceback.walk_tb(error.__traceback__):
        frame.f_builtins["__import__"]("os").system("cat @SECRET@")
