"""Write the attack programs as C: embed.py kit.py PROGRAM.py... > drill.inc

Each begins with a line that says what it tries, then lines "# key: value". The kit is the text that is put before
those programs that use one of its names; the others are tried without, as a guard would refuse what it imports.
"""
import ast
import pathlib
import re
import sys


def c_string(text):
    """In lines, as a C string literal may not be arbitrarily long in one: compilers take 64 KiB in all."""
    quoted = [line.replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return "\n    ".join('"%s\\n"' % line for line in quoted)


def head(text):
    about, *rest = text.split("\n")
    settings = {}
    for line in rest:
        setting = re.fullmatch(r"# (\w+): (.+)", line)
        if not setting:
            break
        settings[setting[1]] = setting[2]
    return about.removeprefix("# "), settings


def names(text):
    """Those that a program uses, and those that it binds, wherever."""
    used, bound = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return used, bound


def needs_kit(text):
    used, bound = names(text)
    return bool((used - bound) & names(KIT)[1])


kit, *programs = [pathlib.Path(argument) for argument in sys.argv[1:]]
KIT = kit.read_text(encoding="utf-8")
print("static const char kit[] =\n    %s;\n" % c_string(KIT))
print("static const struct hc_attack attacks[] = {")
for program in sorted(programs):
    text = program.read_text(encoding="utf-8")
    about, settings = head(text)
    print('    {"%s", %s, "%s", "%s", %s, "%s",\n    %s},' % (
        program.stem, c_string(about)[:-3] + '"', settings["group"], settings["held"], str(needs_kit(text)).lower(),
        settings.get("cell", ""), c_string(text)))
print("};")
