# A tree built by hand, compiled.
# effect: run
import ast
call = ast.parse("f(a)('os').system('cat @SECRET@')", mode="eval")
call.body.func.value.func = ast.Name("__import__", ast.Load())
eval(compile(ast.fix_missing_locations(call), "x", "eval"))
