# textwrap, pprint, string, reprlib.
import pprint
import reprlib
import string
import textwrap
text = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor."
print(textwrap.fill(text, 30, initial_indent="* ", subsequent_indent="  "), textwrap.shorten(text, 25), textwrap.wrap("a b c", 3))
print(textwrap.dedent("    x\n      y"), textwrap.indent("a\nb", "> "))
pprint.pprint({"key" + str(n): list(range(n)) for n in range(12)}, width=50, compact=True)
print(pprint.pformat([["nested"] * 3] * 2, width=20), reprlib.repr(list(range(100))))
print(string.ascii_lowercase[:5], string.digits, string.Template("$a costs $$${b}").substitute(a="tea", b=3), string.Template("$x $y").safe_substitute(x=1), string.capwords("a bc"))
print(string.Formatter().format("{0} {x!r:>5} {1[k]}", "a", {"k": 1}, x="b"), list(string.Formatter().parse("a{b}c")))
