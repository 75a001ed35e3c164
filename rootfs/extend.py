"""extend - makes a layer: modules that are mounted beside a tree, of wheels, folders, a virtual or a conda environment.

    python3 -I extend.py --staging DIR --base NAME --base-id ID --base-root DIR... \\
        [--wheels DIR --requirements FILE] [--module PATH]... [--venv DIR] [--conda DIR] [--recipe FILE]

`hotcell tree extend` runs this, then hashes what it finds in DIR/root and moves it into its store; DIR/meta.json says
what it is. No code of a package is run here, and nothing is fetched: wheels are taken from a directory, by the hashes of
the requirements, and taken apart by wheel.py; folders and environments are copied, without links; a recipe's programs and
the libraries that they need are those of this host (programs.py).

A layer comes after the tree on the module path, so a module of the tree's name would never be found: such names are
refused, as is a wheel that requires what neither the requirements nor the tree have. The exit status is that of
build.py. What is left in DIR after a failure is worthless.
"""

import csv
import json
import os
import re
import resource
import subprocess
import sys
from email.parser import HeaderParser

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

# pylint: disable=wrong-import-position
import conda  # noqa: E402
import elf  # noqa: E402
import errors  # noqa: E402
import interpreter  # noqa: E402
import packages  # noqa: E402
import pinned  # noqa: E402
import programs  # noqa: E402
import requirements  # noqa: E402
import source  # noqa: E402
import wheel  # noqa: E402
from distributions import INSTALLER_FILES  # noqa: E402
from errors import BAD_INPUT, BuildError  # noqa: E402

PROGRAM = "tree extend"  # as its user calls it
SITE = "usr/lib/python3/dist-packages"
AT_START = ("sitecustomize", "usercustomize")  # modules that python3 as a command imports by itself
INSTALLERS = {"pip", "setuptools", "wheel"}  # of each environment, for those who install; a cell cannot
COMPILER_BYTES = 2 << 30  # address space of each process that compiles
COMPILER_SECONDS = 120    # its CPU time
MODULE = re.compile(r"([A-Za-z_]\w*)(?:\.py|(?:\.[A-Za-z0-9_-]+)*\.so)?", re.ASCII)


def say(text):
    """Prints one line for the user."""
    errors.say(PROGRAM, text)


def module_of(entry):
    """The module that an entry of a directory on the module path is; None: it is none."""
    match = MODULE.fullmatch(entry)
    return match[1] if match and entry != "__pycache__" else None


def left_out(entry):
    """Whether an entry of a folder is byte code, or hidden: no layer has it."""
    return entry == "__pycache__" or entry.endswith(".pyc") or entry.startswith(".")


def limit_compiler():
    """In the child that compiles: sources may be anybody's."""
    resource.setrlimit(resource.RLIMIT_AS, (COMPILER_BYTES, COMPILER_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (COMPILER_SECONDS, COMPILER_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def check_record(place, name, parts):
    """Refuses a path of a RECORD that has no place in a layer. NAME: its distribution."""
    path = "/".join(parts)
    if len(parts) == 1 and path.endswith(".pth"):
        raise BuildError(BAD_INPUT, f"{place}: {path}: files that change the module path have no effect in a cell: install {name} "
                                    "without --editable")
    if not all(part not in ("", ".", "..") for part in parts) or len(parts) > wheel.DEEPEST:
        raise BuildError(BAD_INPUT, f"{place}: {path[:100]!r}: expected paths without '..', of at most {wheel.DEEPEST} names")


def python_of(name, root):
    """The interpreter that the tree NAME at ROOT was built with."""
    with open(os.path.join(root, "../meta.json"), encoding="utf-8") as meta:
        about = json.load(meta)
    abi, path = about.get("abi", interpreter.own()), about.get("from", {}).get("python")
    if abi == interpreter.own():
        return interpreter.reference()
    if path is None:
        raise BuildError(BAD_INPUT, f"{name}: nobody noted which Python {abi} it was built with: build it anew")
    found = interpreter.ask(path)
    if found.minor != abi:
        raise BuildError(BAD_INPUT, f"{name} has Python {abi}, but {path}, which it was built with, is Python {found.minor} now: "
                                    "build it anew")
    return found


class Base:
    """What the tree that is extended has, with its layers."""

    def __init__(self, name, identity, roots, python):
        self.name, self.identity = name, identity
        self.root = roots[0]
        self.modules = dict.fromkeys(python.builtins, "Python itself")
        self.distributions = {}
        folders = [f"usr/lib/python{python.minor}", f"usr/lib/python{python.minor}/lib-dynload", SITE]
        for folder in [os.path.join(self.root, folder) for folder in folders] + roots[1:]:
            for entry in os.listdir(folder) if os.path.isdir(folder) else []:
                self.modules.setdefault(module_of(entry), f"the tree {name}")
        for root in roots:
            with open(os.path.join(root, "../meta.json"), encoding="utf-8") as meta:
                for distribution, version in json.load(meta).get("distributions", {}).items():
                    self.distributions[requirements.normal(distribution)] = version
        self.libraries = {entry for folder in ("usr/lib", "usr/lib64") for _, _, names in os.walk(os.path.join(self.root, folder))
                          for entry in names if ".so" in entry}


class Layer:
    """One layer in the making."""

    def __init__(self, options):
        self.options = options
        self.python = python_of(options.base, options.base_root[0])
        self.base = Base(options.base, options.base_id, options.base_root, self.python)
        self.root = os.path.join(options.staging, "root")
        os.mkdir(self.root, 0o755)
        self.room = wheel.Room(self.root, programs.Names(options.base_root))
        self.system = None    # programs.System: a recipe's programs
        self.distributions, self.sources, self.required = {}, [], []
        self.conda = {}       # packages of a conda environment: name -> what is noted of it
        self.optional = []    # native files that are left out if a library of theirs is not there, relative to the root

    def run(self):
        """All stages, in order."""
        if self.options.recipe:
            self.system = programs.System(self.options.recipe, self.base, self.python, self.root)
            self.room.names.taken.update(self.system.recipe.programs)
        if self.options.requirements:
            self.add_wheels()
        for path in self.options.module:
            self.add_module(path)
        if self.options.venv:
            self.add_environment(self.options.venv)
        if self.options.conda:
            self.add_conda(self.options.conda)
        if self.system:
            self.add_system()
        self.leave_out_natives()
        self.check_names()
        self.check_required()
        self.check_libraries()
        self.compile()
        self.describe()

    def add_wheels(self):
        """The wheels that the requirements name."""
        there = wheel.of_directory(self.options.wheels)
        for pin in pinned.read(self.options.requirements, self.python.markers):
            if self.base.distributions.get(pin.name) == pin.version:
                say(f"{pin.name} {pin.version} is in the tree {self.base.name} already")
                continue
            opened = wheel.Opened(self.choose(pin, there), pin.hashes)
            left_out = opened.unpack(self.room)
            if left_out:
                say(f"{opened.label}: left out {left_out} headers and other files that do not belong to its modules")
            self.distributions[opened.about["Name"]] = opened.about["Version"]
            self.sources.append({"wheel": opened.label, "sha256": opened.sha256})
            self.note_required(opened.about, pin.extras)

    def choose(self, pin, there):
        """The best of the directory's wheels for PIN."""
        named = [candidate for candidate in there if candidate.name == pin.name and candidate.version == pin.version.replace("_", "-")]
        fitting = [(wheel.fits(candidate, self.python.minor, self.python.machine), candidate.build, candidate) for candidate in named]
        fitting = [row for row in fitting if row[0] is not None]
        place = f"{self.options.requirements}:{pin.line}"
        if not fitting:
            others = ", ".join(os.path.basename(candidate.path) for candidate in named) or "none of that name and version"
            raise BuildError(BAD_INPUT, f"{place}: {self.options.wheels} has no wheel of {pin.name} {pin.version} for Python "
                                        f"{self.python.minor} on {self.python.machine} (it has {others})")
        return max(fitting, key=lambda row: row[:2])[2]

    def note_required(self, about, extras):
        """Remembers what a distribution requires."""
        for line in about.get_all("Requires-Dist") or []:
            try:
                needed = requirements.parse(line)
                if requirements.applies(needed, self.python.markers, extras):
                    self.required.append((about["Name"], needed.name))
            except ValueError as error:
                raise BuildError(BAD_INPUT, f"{about['Name']}: Requires-Dist: {error}") from error

    def add_module(self, path):
        """A module's file or a package's folder."""
        with source.open_path(path) as opened:
            name = os.path.basename(opened.path)
            if not module_of(name) or left_out(name):
                raise BuildError(BAD_INPUT, f"{path}: expected the folder of a package or the file of a module, called by its name")
            self.copy(opened, [name])
        self.sources.append({"module": name})

    def copy(self, opened, parts):
        """Copies an open file or folder to PARTS, without links, byte code and hidden files."""
        if not opened.is_folder:
            self.copy_file(opened, parts)
            return
        if len(parts) > wheel.DEEPEST:
            raise BuildError(BAD_INPUT, f"{opened.path}: expected at most {wheel.DEEPEST} folders in each other")
        for entry in opened.entries():
            if not left_out(entry):
                with opened.open(entry) as inner:
                    self.copy(inner, [*parts, entry])

    def copy_file(self, opened, parts):
        """Copies one open file."""
        if not all(part.isprintable() for part in parts):
            raise BuildError(BAD_INPUT, f"{opened.path!r}: expected a name of printable characters")
        copied = 0
        with self.room.create(parts, opened.path) as target:
            for chunk in opened.chunks(wheel.CHUNK):
                copied += len(chunk)
                if self.room.bytes + copied > wheel.MOST_BYTES:
                    break
                target.write(chunk)
        self.room.take(copied, opened.path)

    def add_environment(self, folder):
        """The distributions of a virtual environment that the tree does not have."""
        with source.open_path(folder) as environment, self.open_site(environment) as site:
            for entry in site.entries():
                if entry.endswith(".dist-info"):
                    with site.open(entry) as info:
                        self.add_installed(site, info)
            self.sources.append({"venv": errors.plain(os.path.basename(environment.path))})

    def open_site(self, environment):
        """The folder of an environment's modules."""
        minor = self.python.minor
        try:
            with environment.open("pyvenv.cfg"):
                return environment.below(["lib", f"python{minor}", "site-packages"])
        except BuildError as error:
            raise BuildError(BAD_INPUT, f"{environment.path}: expected a virtual environment of Python {minor}, with pyvenv.cfg and "
                                        f"lib/python{minor}/site-packages: {error}") from error

    def has(self, about, place):
        """Whether the tree has the distribution, in this version. Refuses one that the tree has in another."""
        name = requirements.normal(about["Name"])
        have = self.base.distributions.get(name)
        if have and have != about["Version"]:
            raise BuildError(BAD_INPUT, f"{place}: {name} {about['Version']}: the tree {self.base.name} has {have}: 'hotcell tree build "
                                        "--python' makes a tree of an environment")
        return have is not None

    def add_installed(self, site, info):
        """One distribution of an environment, by its .dist-info: what its RECORD lists."""
        about = self.metadata(info)
        name = requirements.normal(about["Name"])
        if name in INSTALLERS or self.has(about, site.path):
            return
        self.copy_listed(site, [path for path in self.listed(info) if not path.startswith(("/", "../"))], f"{info.path}/RECORD", name)
        if "entry_points.txt" in info.entries():
            with info.open("entry_points.txt") as file:
                self.room.add_console_scripts(file.text(programs.MOST_TABLE), info.path)
        self.distributions[about["Name"]] = about["Version"]
        self.note_required(about, frozenset())

    def metadata(self, info):
        """The METADATA of an open .dist-info."""
        with info.open("METADATA") as file:
            about = HeaderParser().parsestr(file.text(wheel.MOST_METADATA))
        wheel.check_about(about, info.path)
        return about

    def copy_listed(self, site, paths, place, name):
        """Copies files of an environment's folder of modules. PLACE: where the distribution NAME lists them."""
        for path in paths:
            parts = path.split("/")
            check_record(place, name, parts)
            if parts[-1] not in INSTALLER_FILES and not left_out(parts[-1]):
                with site.below(parts) as file:
                    self.copy(file, parts)

    def add_conda(self, folder):
        """The packages of a conda environment that the tree does not have, and what pip has put beside them."""
        below = ["lib", f"python{self.python.minor}", "site-packages"]
        with source.open_path(folder) as environment:
            found, owned = conda.read(environment), set()
            with environment.below(below) as site:
                for package in found:
                    prefix = "/".join(below) + "/"
                    paths = [path.removeprefix(prefix) for path in package.files if path.startswith(prefix)]
                    owned.update(paths)
                    self.add_conda_package(site, package, paths)
                for entry in site.entries():
                    if entry.endswith(".dist-info") and f"{entry}/METADATA" not in owned:
                        with site.open(entry) as info:
                            self.add_installed(site, info)
            self.sources.append({"conda": errors.plain(os.path.basename(environment.path))})

    def add_conda_package(self, site, package, paths):
        """One package of a conda environment. PATHS: its files in the open folder of modules."""
        if not paths or package.name in INSTALLERS | {"python"}:
            return
        abouts = []
        for path in paths:
            info, _, last = path.rpartition("/")
            if last == "METADATA" and info.endswith(".dist-info") and "/" not in info:
                with site.open(info) as opened:
                    abouts.append(self.metadata(opened))
        names = abouts or [{"Name": package.name, "Version": package.version}]
        if all([self.has(about, site.path) for about in names]):
            return
        self.copy_listed(site, paths, f"{package.name} in conda-meta", package.name)
        self.optional += [path for path in paths if ".so" in path.rpartition("/")[2]]
        self.distributions.update({about["Name"]: about["Version"] for about in names})
        self.conda[package.name] = package.note({about["Name"] for about in names})
        for about in abouts:
            self.note_required(about, frozenset())

    def add_system(self):
        """The programs of a recipe, with their libraries and the distributions that the tree does not have."""
        self.system.fill()
        for file in self.system.files:
            self.room.take(os.lstat(self.system.tree.at(file)).st_size, self.options.recipe)
        self.distributions.update({one.name: one.version for one in self.system.distributions})
        self.sources.append({"recipe": self.system.recipe.name})

    def leave_out_natives(self):
        """Removes native files of conda whose libraries are those of the environment, which stays behind. Those that need them go, too."""
        there = {os.path.join(self.root, path) for path in self.optional}
        gone = True
        while gone:
            here = self.base.libraries | {name for _, _, names in os.walk(self.root) for name in names}
            gone = {path: missing for path in sorted(there) if (missing := self.missing(path, here))}
            for path, missing in gone.items():
                say(f"left out {os.path.relpath(path, self.root)}, which needs {missing}")
                self.room.files, self.room.bytes = self.room.files - 1, self.room.bytes - os.path.getsize(path)
                os.unlink(path)
            there -= set(gone)

    def missing(self, path, here):
        """A library that a native file needs, and that is not HERE; None: all are."""
        try:
            found = elf.read(path)
        except BuildError as error:
            raise BuildError(BAD_INPUT, str(error).replace(f"{self.root}/", "", 1)) from error
        return next((needed for needed in found.needed if needed not in here), None) if found else None

    def listed(self, info):
        """The paths of the RECORD of an open .dist-info."""
        with info.open("RECORD") as file:
            lines = file.text(wheel.MOST_METADATA).splitlines(keepends=True)
        try:
            return [row[0] for row in csv.reader(lines) if row]
        except csv.Error as error:
            raise BuildError(BAD_INPUT, f"{info.path}/RECORD: expected rows of a path, a hash and a size: {error}") from error

    def modules(self):
        """The modules at the layer's top."""
        return sorted({module for module in map(module_of, os.listdir(self.root)) if module})

    def programs(self):
        """The programs in the layer."""
        return sorted([*self.room.programs, *(self.system.recipe.programs if self.system else [])])

    def check_names(self):
        """Refuses modules that the tree has, and those that would run though nobody imports them."""
        modules = self.modules()
        if not modules and not self.programs():
            raise BuildError(BAD_INPUT, "no module was found: give --wheels with --requirements, --module, --venv, --conda or --recipe")
        for module in modules:
            if module in self.base.modules:
                raise BuildError(BAD_INPUT, f"the module '{module}' is in {self.base.modules[module]} too, where it would be found first")
            if module in AT_START:
                raise BuildError(BAD_INPUT, f"the module '{module}' would run in every python3 of a cell, also where nothing of the layer is "
                                            "imported")

    def check_required(self):
        """Refuses a layer whose distributions lack what they require."""
        have = set(self.base.distributions) | {requirements.normal(name) for name in self.distributions}
        for owner, needed in self.required:
            if needed not in have:
                raise BuildError(BAD_INPUT, f"{owner} requires {needed}, which neither the layer nor the tree {self.base.name} has")

    def check_libraries(self):
        """Refuses native modules that need a shared library which is not there."""
        natives = [os.path.join(folder, name) for folder, _, names in os.walk(self.root) for name in names
                   if ".so" in name and name != "ld.so.cache"]
        here = {os.path.basename(path) for path in natives} | self.base.libraries
        natives += [os.path.join(self.root, programs.PROGRAMS, name) for name in self.room.programs]
        for path in natives:
            needed = self.missing(path, here)
            if needed:
                raise BuildError(BAD_INPUT, f"{os.path.relpath(path, self.root)} needs {needed}, which neither the layer nor the tree "
                                            f"{self.base.name} has")

    def compile(self):
        """Byte code for every source that compiles, so that no job has to compile it. The compiler runs nothing of a source; one that takes
        too much memory or time for it stays as it is, as do those that share its process."""
        sources = sorted(os.path.relpath(os.path.join(folder, name), self.root)
                         for folder, _, names in os.walk(self.root) for name in names
                         if name.endswith(".py") and os.path.basename(folder) != programs.PROGRAMS)
        command = [self.python.executable, "-I", "-S", "-B", os.path.join(HERE, "bytecode.py"), str(len(os.sched_getaffinity(0)))]
        subprocess.run(command, cwd=self.root, input="\0".join(sources), stderr=subprocess.DEVNULL, text=True, check=False,
                       preexec_fn=limit_compiler)  # pylint: disable=subprocess-popen-preexec-fn
        compiled = {path: os.path.getsize(path) for path in (os.path.join(folder, name) for folder, _, names in os.walk(self.root)
                                                             for name in names if folder.endswith("/__pycache__"))}
        self.room.files += len(compiled)
        self.room.bytes += sum(compiled.values())
        if len(compiled) < len(sources):
            say(f"{len(sources) - len(compiled)} of {len(sources)} sources do not compile, and have no byte code")

    def describe(self):
        """DIR/meta.json."""
        meta = {
            "layer": True,
            "base": {"name": self.base.name, "sha256": self.base.identity},
            "python": self.python.version,
            "abi": self.python.minor,
            "machine": self.python.machine,
            "distributions": self.distributions,
            "modules": self.modules(),
            **({"programs": self.programs()} if self.programs() else {}),
            **({"packages": self.system.packages(), "system": packages.system()} if self.system else {}),
            "sources": self.sources,
            **({"conda": self.conda} if self.conda else {}),
            "files": self.room.files,
            "bytes": self.room.bytes,
        }
        with open(os.path.join(self.options.staging, "meta.json"), "w", encoding="utf-8") as target:
            json.dump(meta, target, indent=2)
            target.write("\n")


def _options(arguments):
    parser = errors.Parser(PROGRAM, prog="extend.py", description=__doc__)
    parser.add_argument("--staging", required=True, metavar="DIR", help="a fresh folder to fill")
    parser.add_argument("--base", required=True, metavar="NAME", help="the tree that is extended")
    parser.add_argument("--base-id", required=True, metavar="ID", help="its ID")
    parser.add_argument("--base-root", required=True, metavar="DIR", action="append", help="its root; then the roots of its layers")
    parser.add_argument("--wheels", metavar="DIR", help="where the wheels are")
    parser.add_argument("--requirements", metavar="FILE", help="which wheels, with versions and hashes")
    parser.add_argument("--module", metavar="PATH", action="append", default=[], help="a module or package to copy")
    parser.add_argument("--venv", metavar="DIR", help="a virtual environment to copy")
    parser.add_argument("--conda", metavar="DIR", help="a conda environment to copy")
    parser.add_argument("--recipe", metavar="FILE", help="a recipe whose programs are taken")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Makes a layer; an error becomes one line and an exit status."""
    os.umask(0o022)
    return errors.status_of(PROGRAM, lambda: Layer(_options(arguments)).run(), (FileNotFoundError, UnicodeDecodeError))


if __name__ == "__main__":
    sys.exit(main())
