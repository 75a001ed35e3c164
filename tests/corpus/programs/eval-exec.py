# eval, exec and compile, as calculators and templates use them.
print(eval("2 ** 10 + max(3, 4)"), eval("a + b", {"a": 1, "b": 2}), eval("[x for x in range(3)]"))
space = {}
exec("def double(x):\n    return x * 2\nvalue = double(21)", space)
print(space["value"], space["double"](4), sorted(name for name in space if not name.startswith("__")))
code = compile("total = sum(numbers)", "<calculation>", "exec")
names = {"numbers": [1, 2, 3]}
exec(code, names)
print(names["total"], eval(compile("6 * 7", "<x>", "eval")))
for expression in ("1 / 0", "undefined", "1 +", "len(5)"):
    try:
        print(eval(expression))
    except Exception as error:
        print(type(error).__name__)
x = 5
print(eval("x * 2"), eval("__name__"), eval("lambda y: y + 1")(1))
