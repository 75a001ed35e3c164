"""Write the harness's Python parts as C: freeze.py guest_*.py > harness.inc

Each becomes a marshalled code object in a table of {name, bytes, size}; the name is the file's without
"guest_". All are compiled under one file name, by which tracebacks know them and leave them out.
"""
import marshal
import pathlib
import sys

FILE_NAME = "<hotcell>"


def frozen(path):
    code = compile(path.read_bytes(), FILE_NAME, "exec", dont_inherit=True, optimize=2)
    return marshal.dumps(code)


def c_array(name, data):
    rows = [", ".join(map(str, data[i:i + 20])) for i in range(0, len(data), 20)]
    return "static const unsigned char %s[] = {\n    %s,\n};\n" % (name, ",\n    ".join(rows))


def main(paths):
    names = [path.stem.removeprefix("guest_") for path in paths]
    for name, path in zip(names, paths):
        print(c_array("frozen_" + name, frozen(path)))
    print("static const struct frozen_part frozen_parts[] = {")
    for name in names:
        print('    {"%s", frozen_%s, sizeof frozen_%s},' % (name, name, name))
    print("};")


main([pathlib.Path(argument) for argument in sys.argv[1:]])
