# ast: literal_eval, trees, visitors, unparse.
import ast
print(ast.literal_eval("{'a': [1, 2.5, None], 'b': (True, b'x')}"), ast.unparse(ast.parse("x=1+2*3")))
for bad in ("__import__('os')", "1 +", "a.b"):
    try:
        ast.literal_eval(bad)
    except (ValueError, SyntaxError) as error:
        print(type(error).__name__)
class Names(ast.NodeVisitor):
    def __init__(self):
        self.found = []
    def visit_Name(self, node):
        self.found.append(node.id)
        self.generic_visit(node)
visitor = Names()
visitor.visit(ast.parse("def f(x):\n    return x + y * z"))
print(visitor.found, ast.dump(ast.parse("a.b", mode="eval")))
class Doubler(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(node.value * 2), node)
tree = ast.fix_missing_locations(Doubler().visit(ast.parse("1 + 2", mode="eval")))
print(eval(compile(tree, "<tree>", "eval")), [type(n).__name__ for n in ast.walk(ast.parse("f(1)"))])
