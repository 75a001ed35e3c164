"""extend - makes a layer: modules that are mounted beside a tree, of wheels, folders or a virtual environment.

    python3 -I extend.py --staging DIR --base NAME --base-id ID --base-root DIR... \\
        [--wheels DIR --requirements FILE] [--module PATH]... [--venv DIR]

`hotcell tree extend` runs this, then hashes what it finds in DIR/root and moves it into its store; DIR/meta.json says
what it is. No code of a package is run here, and nothing is fetched: wheels are taken from a directory, by the hashes of
the requirements, and taken apart by wheel.py; folders and environments are copied, without links.

A layer comes after the tree on the module path, so a module of the tree's name would never be found: such names are
refused, as is a wheel that requires what neither the requirements nor the tree have. The exit status is that of
build.py. What is left in DIR after a failure is worthless.
"""

import argparse
import csv
import json
import os
import re
import stat
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# pylint: disable=wrong-import-position
import elf  # noqa: E402
import interpreter  # noqa: E402
import pinned  # noqa: E402
import requirements  # noqa: E402
import wheel  # noqa: E402
from distributions import INSTALLER_FILES  # noqa: E402
from errors import BAD_INPUT, INTERNAL, BuildError  # noqa: E402

USAGE = 64
SITE = "usr/lib/python3/dist-packages"
INSTALLERS = {"pip", "setuptools", "wheel"}  # of each environment, for those who install; a cell cannot
MODULE = re.compile(r"([A-Za-z_]\w*)(?:\.py|(?:\.[A-Za-z0-9_-]+)*\.so)?", re.ASCII)


def say(text):
    """Prints one line for the user."""
    print(f"tree extend: {text}", file=sys.stderr, flush=True)


def module_of(entry):
    """The module that an entry of a directory on the module path is; None: it is none."""
    match = MODULE.fullmatch(entry)
    return match[1] if match else None


class Base:
    """What the tree that is extended has, with its layers."""

    def __init__(self, name, identity, roots, minor):
        self.name, self.identity = name, identity
        self.root = roots[0]
        self.modules = dict.fromkeys(sys.builtin_module_names, "Python itself")
        self.distributions = {}
        folders = [f"usr/lib/python{minor}", f"usr/lib/python{minor}/lib-dynload", SITE]
        for folder in [os.path.join(self.root, folder) for folder in folders] + roots[1:]:
            for entry in os.listdir(folder) if os.path.isdir(folder) else []:
                self.modules.setdefault(module_of(entry), f"the tree {name}")
        for root in roots:
            with open(os.path.join(root, "../meta.json"), encoding="utf-8") as source:
                for distribution, version in json.load(source).get("distributions", {}).items():
                    self.distributions[requirements.normal(distribution)] = version
        self.libraries = {entry for _, _, names in os.walk(os.path.join(self.root, "usr/lib")) for entry in names if ".so" in entry}


class Layer:
    """One layer in the making."""

    def __init__(self, options):
        self.options = options
        self.python = interpreter.reference()
        self.base = Base(options.base, options.base_id, options.base_root, self.python.minor)
        self.root = os.path.join(options.staging, "root")
        os.mkdir(self.root, 0o755)
        self.room = wheel.Room(self.root)
        self.distributions, self.sources, self.required = {}, [], []

    def run(self):
        """All stages, in order."""
        if self.options.requirements:
            self.add_wheels()
        for path in self.options.module:
            self.add_module(path)
        if self.options.venv:
            self.add_environment(self.options.venv)
        self.check_names()
        self.check_required()
        self.check_libraries()
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
                say(f"{opened.label}: left out {left_out} scripts, headers and other files that do not belong to its modules")
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
        name = os.path.basename(os.path.realpath(path))
        if not module_of(name):
            raise BuildError(BAD_INPUT, f"{path}: expected the folder of a package or the file of a module, called by its name")
        self.copy(os.path.realpath(path), [name])
        self.sources.append({"module": name})

    def copy(self, path, parts):
        """Copies a file or a folder, without links and without byte code."""
        if parts[-1] == "__pycache__" or parts[-1].endswith(".pyc") or (parts[-1].startswith(".") and parts[-1] != "."):
            return
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode):
            if len(parts) > wheel.DEEPEST:
                raise BuildError(BAD_INPUT, f"{path}: expected at most {wheel.DEEPEST} folders in each other")
            for entry in sorted(os.listdir(path)):
                self.copy(os.path.join(path, entry), [*parts, entry])
        elif stat.S_ISREG(status.st_mode):
            self.copy_file(path, parts)
        else:
            raise BuildError(BAD_INPUT, f"{path}: expected a file or a folder, and no link or special file")

    def copy_file(self, path, parts):
        """Copies one file."""
        if not all(part.isprintable() for part in parts):
            raise BuildError(BAD_INPUT, f"{path!r}: expected a name of printable characters")
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as source, self.room.create(parts, path) as target:
            copied = 0
            while chunk := source.read(wheel.CHUNK):
                copied += len(chunk)
                if self.room.bytes + copied > wheel.MOST_BYTES:
                    break
                target.write(chunk)
        self.room.take(copied, path)

    def add_environment(self, folder):
        """The distributions of a virtual environment that the tree does not have."""
        site = os.path.join(folder, "lib", f"python{self.python.minor}", "site-packages")
        if not os.path.isfile(os.path.join(folder, "pyvenv.cfg")) or not os.path.isdir(site):
            raise BuildError(BAD_INPUT, f"{folder}: expected a virtual environment of Python {self.python.minor}, with pyvenv.cfg and "
                                        f"lib/python{self.python.minor}/site-packages")
        for entry in sorted(os.listdir(site)):
            if entry.endswith(".dist-info"):
                self.add_installed(site, entry)
        self.sources.append({"venv": os.path.basename(os.path.realpath(folder))})

    def add_installed(self, site, entry):
        """One distribution of an environment: what its RECORD lists."""
        with open(os.path.join(site, entry, "METADATA"), encoding="utf-8") as source:
            about = wheel.HeaderParser().parse(source)
        wheel.check_about(about, f"{site}/{entry}")
        name = requirements.normal(about["Name"])
        have = self.base.distributions.get(name)
        if name in INSTALLERS or have == about["Version"]:
            return
        if have:
            raise BuildError(BAD_INPUT, f"{site}: {name} {about['Version']}: the tree {self.base.name} has {have}: 'hotcell tree build "
                                        "--python' makes a tree of an environment")
        with open(os.path.join(site, entry, "RECORD"), encoding="utf-8", newline="") as source:
            listed = [row[0] for row in csv.reader(source) if row]
        for path in listed:
            parts = path.split("/")
            if path.startswith(("/", "../")):
                continue   # a script or other file beside the modules
            if len(parts) == 1 and path.endswith(".pth"):
                raise BuildError(BAD_INPUT, f"{site}/{path}: files that change the module path have no effect in a cell: install {name} "
                                            "without --editable")
            if ".." in parts or not all(parts):
                raise BuildError(BAD_INPUT, f"{site}/{entry}/RECORD: {path[:100]!r}: expected paths without '..'")
            if os.path.realpath(os.path.dirname(os.path.join(site, path))) != os.path.join(os.path.realpath(site), *parts[:-1]):
                raise BuildError(BAD_INPUT, f"{site}/{path}: expected a file of the environment itself, and no link on the way to it")
            if parts[-1] not in INSTALLER_FILES:
                self.copy(os.path.join(site, path), parts)
        self.distributions[about["Name"]] = about["Version"]
        self.note_required(about, frozenset())

    def modules(self):
        """The modules at the layer's top."""
        return sorted({module for module in map(module_of, os.listdir(self.root)) if module})

    def check_names(self):
        """Refuses modules that the tree has."""
        modules = self.modules()
        if not modules:
            raise BuildError(BAD_INPUT, "no module was found: give --wheels with --requirements, --module or --venv")
        for module in modules:
            if module in self.base.modules:
                raise BuildError(BAD_INPUT, f"the module '{module}' is in {self.base.modules[module]} too, where it would be found first")

    def check_required(self):
        """Refuses a layer whose distributions lack what they require."""
        have = set(self.base.distributions) | {requirements.normal(name) for name in self.distributions}
        for owner, needed in self.required:
            if needed not in have:
                raise BuildError(BAD_INPUT, f"{owner} requires {needed}, which neither the layer nor the tree {self.base.name} has")

    def check_libraries(self):
        """Refuses native modules that need a shared library which is not there."""
        natives = [os.path.join(folder, name) for folder, _, names in os.walk(self.root) for name in names if ".so" in name]
        here = {os.path.basename(path) for path in natives} | self.base.libraries
        for path in natives:
            found = elf.read(path)
            for needed in found.needed if found else ():
                if needed not in here:
                    raise BuildError(BAD_INPUT, f"{os.path.relpath(path, self.root)} needs {needed}, which neither the layer nor the tree "
                                                f"{self.base.name} has")

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
            "sources": self.sources,
            "files": self.room.files,
            "bytes": self.room.bytes,
        }
        with open(os.path.join(self.options.staging, "meta.json"), "w", encoding="utf-8") as target:
            json.dump(meta, target, indent=2)
            target.write("\n")


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        say(f"{message} (see --help)")
        sys.exit(USAGE)


def _options(arguments):
    parser = _Parser(prog="extend.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--staging", required=True, metavar="DIR", help="a fresh folder to fill")
    parser.add_argument("--base", required=True, metavar="NAME", help="the tree that is extended")
    parser.add_argument("--base-id", required=True, metavar="ID", help="its ID")
    parser.add_argument("--base-root", required=True, metavar="DIR", action="append", help="its root; then the roots of its layers")
    parser.add_argument("--wheels", metavar="DIR", help="where the wheels are")
    parser.add_argument("--requirements", metavar="FILE", help="which wheels, with versions and hashes")
    parser.add_argument("--module", metavar="PATH", action="append", default=[], help="a module or package to copy")
    parser.add_argument("--venv", metavar="DIR", help="a virtual environment to copy")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Makes a layer; an error becomes one line and an exit status."""
    os.umask(0o022)
    try:
        Layer(_options(arguments)).run()
    except BuildError as error:
        say(error)
        return error.status
    except KeyboardInterrupt:
        say("interrupted")
        return INTERNAL
    except (OSError, UnicodeDecodeError) as error:
        parts = (getattr(error, "filename", None), getattr(error, "strerror", None) or error)
        say(": ".join(str(part) for part in parts if part))
        return BAD_INPUT if isinstance(error, (FileNotFoundError, UnicodeDecodeError)) else INTERNAL
    return 0


if __name__ == "__main__":
    sys.exit(main())
