"""Write Python files as C: freeze.py guest_*.py value_tags.py ... values.py > harness.inc

Each file becomes a part: a marshalled code object in a table of {name, bytes, size}. The part's name is the file's
without "guest_". The modules of the package that carry values are one part, "values": a part imports no other, so they
are joined in the order of the arguments, in which each stands behind those that it imports. All parts are compiled
under one file name, by which tracebacks recognise them and leave them out.

Modules that every start imports, and that the interpreter has not frozen itself, go into a second table in the
interpreter's own form: so a program that imports nothing reads no file of the standard library.
"""
import ast
import importlib.util
import marshal
import pathlib
import sys

FILE_NAME = "<hotcell>"
STARTUP = ["encodings", "encodings.aliases", "encodings.utf_8"]


def c_array(name, data):
    rows = [", ".join(map(str, data[i:i + 20])) for i in range(0, len(data), 20)]
    return "static const unsigned char %s[] = {\n    %s,\n};\n" % (name, ",\n    ".join(rows))


def freeze(prefix, name, source, file_name, optimize):
    code = compile(source, file_name, "exec", dont_inherit=True, optimize=optimize)
    symbol = prefix + name.replace(".", "_")
    print(c_array(symbol, marshal.dumps(code)))
    return symbol


def join(paths):
    """One module of several: without their imports of each other, and with the __future__ import of the first alone."""
    joined = ast.Module(body=[], type_ignores=[])
    for path in paths:
        for node in ast.parse(path.read_bytes()).body:
            is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if not (isinstance(node, ast.ImportFrom) and node.level) and not (is_future and path != paths[0]):
                joined.body.append(node)
    return joined


def freeze_parts(paths):
    parts = {}
    for path in paths:
        parts.setdefault(path.stem.removeprefix("guest_") if path.stem.startswith("guest_") else "values", []).append(path)
    sources = [join(files) if len(files) > 1 else files[0].read_bytes() for files in parts.values()]
    symbols = [freeze("part_", name, source, FILE_NAME, 2) for name, source in zip(parts, sources)]
    print("static const struct frozen_part frozen_parts[] = {")
    for name, symbol in zip(parts, symbols):
        print('    {"%s", %s, sizeof %s},' % (name, symbol, symbol))
    print("};\n")


def freeze_startup():
    specs = [importlib.util.find_spec(name) for name in STARTUP]
    symbols = [freeze("startup_", spec.name, spec.loader.get_data(spec.origin), "<frozen %s>" % spec.name, 0)
               for spec in specs]
    print("static const struct _frozen startup_modules[] = {")
    for spec, symbol in zip(specs, symbols):
        package = str(bool(spec.submodule_search_locations)).lower()
        print('    {.name = "%s", .code = %s, .size = sizeof %s, .is_package = %s},'
              % (spec.name, symbol, symbol, package))
    print("    {0},\n};")


freeze_parts([pathlib.Path(argument) for argument in sys.argv[1:]])
freeze_startup()
