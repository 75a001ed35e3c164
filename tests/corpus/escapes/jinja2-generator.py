# A generator of the program's own writes the code that jinja2 compiles.
# effect: run
# tree: scientific
import jinja2
import jinja2.compiler


class Mine(jinja2.compiler.CodeGenerator):
    def visit_Template(self, node, frame=None):
        self.write("name = ''\nblocks = {}\ndebug_info = ''\n__import__('os').system('cat @SECRET@')\nroot = None\n")


class Environment(jinja2.Environment):
    code_generator_class = Mine


Environment().from_string("")
