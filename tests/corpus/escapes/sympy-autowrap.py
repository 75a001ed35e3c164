# autowrap's helper runs the compiler that an attribute names.
# effect: run
# tree: scientific-more
from sympy.utilities.autowrap import CodeWrapper


class Mine(CodeWrapper):
    command = ["cat", "@SECRET@"]


wrapper = Mine(None)
wrapper.quiet = False
wrapper.flags = []
wrapper._process_files(None)
