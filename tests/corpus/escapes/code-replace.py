# code.replace gives a function's code another file name.
# effect: run
import textwrap
def work():
    import os
    os.system("cat @SECRET@")
work.__code__ = work.__code__.replace(co_filename=textwrap.__file__)
work()
