"""programs - what a layer has for commands: the console scripts of wheels, and the programs that a recipe names.

Console scripts are in a layer's folder bin.d, which the launcher adds to PATH behind the tree's programs. Programs of
the host are in its folder local.d, which is /usr/local of a cell: trees without programs of their own have these in
/usr/bin, by a link, and their loader looks there for the libraries that the programs need.
"""

import configparser
import os
import re

import distributions
import elf
import loadercache
import packages
import recipe as recipes
import requirements
from errors import BAD_INPUT, BuildError
from libraries import Libraries, folder_of
from staging import Tree, matcher

LONGEST = 200                          # bytes of a name
MOST_TABLE = 1 << 20                   # bytes of an entry_points.txt
LONGEST_LINE = 1000                    # characters of a line of it; configparser's time grows with a line's square
PROGRAMS, SYSTEM = "bin.d", "local.d"  # folders of a layer, whose names are no modules'
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*", re.ASCII)
ENTRY = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*:\s*([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)*)\s*(?:\[[^\]]*\])?", re.ASCII)
PYTHON = re.compile(r"python[0-9.]*|pip[0-9.]*")
INTERPRETER = b"#!/usr/bin/python3 -P\n"  # -P: a script is no module that another one finds
SCRIPT = """import sys
from {module} import {first}
sys.exit({first}{rest}())
"""


def _shipped():
    """The names of the programs in the recipe shell, over which no layer may put others."""
    return set(recipes.load(os.path.join(os.path.dirname(os.path.realpath(__file__)), "shell.json")).programs)


class Names:
    """Which names programs of a layer may have."""

    def __init__(self, roots):
        self.taken = _shipped()  # names of programs; those of a recipe of the same layer are added
        for folder in [os.path.join(roots[0], "usr/bin"), *(os.path.join(root, folder) for root in roots[1:]
                                                           for folder in (PROGRAMS, f"{SYSTEM}/bin"))]:
            self.taken |= set(os.listdir(folder)) if os.path.isdir(folder) else set()

    def check(self, name, place):
        """Refuses what is no name of a program, and one that another program has."""
        if not NAME.fullmatch(name) or len(name) > LONGEST:
            raise BuildError(BAD_INPUT, f"{place}: {name[:100]!r}: expected the name of a program, of letters, digits and '._+-'")
        if name in self.taken or PYTHON.fullmatch(name):
            raise BuildError(BAD_INPUT, f"{place}: the program '{name}' is one of a tree's or a recipe's, where it would be found first")


def console_scripts(text, place):
    """The console scripts that an entry_points.txt names: name -> bytes of the script."""
    parser = configparser.RawConfigParser(delimiters=("=",), strict=True, interpolation=None)
    parser.optionxform = str
    if any(len(line) > LONGEST_LINE for line in text.splitlines()):
        raise BuildError(BAD_INPUT, f"{place}: expected entry points in lines of at most {LONGEST_LINE} characters")
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise BuildError(BAD_INPUT, f"{place}: not a table of entry points: {str(error).splitlines()[0]}") from error
    scripts = {}
    for name, value in parser.items("console_scripts") if parser.has_section("console_scripts") else ():
        match = ENTRY.fullmatch(value)
        if not match:
            raise BuildError(BAD_INPUT, f"{place}: {name[:100]!r} = {value[:100]!r}: expected MODULE:FUNCTION")
        scripts[name] = INTERPRETER + SCRIPT.format(module=match[1], first=match[2], rest=match[3]).encode()
    return scripts


def with_interpreter(head):
    """The first bytes of a script of a wheel: "#!python" is to become the interpreter of where it is installed."""
    line, end, rest = head.partition(b"\n")
    return INTERPRETER + rest if end and re.fullmatch(rb"#!pythonw?\s*", line) else head


class System:
    """The programs of a recipe as a layer above a tree, in a folder that is the layer's root in the making."""

    def __init__(self, path, base, python, layer):
        self.recipe, self.base, self.python = recipes.load(path), base, python
        self.tree = Tree(layer, self.recipe.exclude)
        self.distributions, self.files = [], []

    def fill(self):
        """Adds programs, their libraries, and the distributions that the tree lacks. Nothing of another source is replaced."""
        if not self.recipe.programs:
            raise BuildError(BAD_INPUT, f"{self.recipe.name}: expected a recipe with programs, to be put over a tree")
        for path in self.recipe.files:
            if not os.path.lexists(self.base.root + path):
                raise BuildError(BAD_INPUT, f"{self.recipe.name}: {path}: not in the tree {self.base.name}, and a layer has programs and "
                                            "modules alone")
        found = distributions.Installed(self.python).closure(self.recipe)
        self.distributions = [one for one in found if requirements.normal(one.name) not in self.base.distributions]
        exclude, before, modules = matcher(self.recipe.exclude), set(self.tree.files()), set(os.listdir(self.tree.root))
        for one in self.distributions:
            for entry in one.entries:
                if entry.split("/")[0] in modules:
                    raise BuildError(BAD_INPUT, f"{self.recipe.name}: {one.name}: {entry}: the layer has this already")
                self.tree.copy(os.path.join(one.site, entry), entry, exclude, base="")
        self.tree.copy_programs(self.recipe.programs, self.python.executable, f"{SYSTEM}/bin")
        self.tree.settle_links()
        self._add_libraries()
        self.tree.check_links()
        self.files = [path for path in self.tree.files() if path not in before]

    def _add_libraries(self):
        there = os.listdir(os.path.join(self.base.root, folder_of(self.python.multiarch)))
        libraries = Libraries(self.tree, os.path.realpath(self.python.executable), self.python.multiarch, f"{SYSTEM}/lib")
        libraries.gather_more(there)
        cache = loadercache.pack(libraries.here, "/usr/local/lib", elf.read(self.python.executable).machine)
        self.tree.write(f"{SYSTEM}/lib/ld.so.cache", cache)

    def packages(self):
        """The Debian packages that its files are of."""
        return packages.owners(self.tree.origin.values())
