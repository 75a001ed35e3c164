"""build - makes the read-only root of a cell, the tree, out of what is installed on this host.

    python3 -I build.py --recipe FILE --staging DIR [--python PATH] [--shim [VERSION=]PATH]...

`hotcell tree build` runs this, then hashes what it finds in DIR/root and moves it into its store; DIR/meta.json says
what it is. DIR/root holds an interpreter's standard library, the distributions that the recipe names with what they
require, the shared libraries that all of these need, fonts, time zones, the few files of /etc that libc reads, and
nothing else: no program but the ELF interpreter and those that the recipe names, no tests, no installer. The stages,
in order:

 1. read the recipe (recipe.py) and ask the interpreters what they are (interpreter.py). The standard library is
    that of the interpreter running this builder, or if --python is of another minor version, for which there must be
    a shim, that of --python; the distributions are those that --python sees, by default the same interpreter;
 2. copy the standard library, the distributions (distributions.py, requirements.py) and the other files, without what
    the recipe excludes. Links become relative links inside the tree, or copies (staging.py);
 3. copy the closure of shared libraries, read from the ELF files as the dynamic loader reads them (elf.py,
    libraries.py), into the folder that the loader searches without an ld.so.cache;
 4. write mount points and the files of /etc;
 5. compile every source ahead (bytecode.py), and list the fonts for matplotlib (fontcache.py);
 6. check: no link leaves the tree, and the modules that the recipe names import from it.

The same packages give the same bytes: nothing in a tree depends on the time, the staging folder, or the hash seed.
Directories have mode 0755, files 0644, the ELF interpreter and programs 0755. On failure one line says what was expected; the exit
status is 64 for a wrong call, 65 for a recipe or interpreter that does not fit, 69 for something missing on this host,
70 for a failure of the builder. What is left in DIR is then worthless.
"""

import glob
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

# pylint: disable=wrong-import-position
import distributions  # noqa: E402
import elf  # noqa: E402
import errors  # noqa: E402
import interpreter  # noqa: E402
import packages  # noqa: E402
import recipe as recipes  # noqa: E402
from errors import BAD_INPUT, INTERNAL, UNAVAILABLE, BuildError  # noqa: E402
from libraries import Libraries  # noqa: E402
from staging import Tree, matcher  # noqa: E402

PROGRAM = "tree build"  # as its user calls it
SITE = "usr/lib/python3/dist-packages"
MATPLOTLIB_CACHE = "usr/share/hotcell/matplotlib"
MOUNT_POINTS = ("dev", "proc", "tmp", "output", "input", "usr/lib/layers", "usr/local/bin", "usr/local/lib")
LOADER_CACHE = "usr/local/lib/ld.so.cache"  # empty; a layer of programs covers /usr/local, and so gives the loader its libraries
# Python as a command finds the modules of layers, in the order in which they were mounted, whatever its environment is.
LAYERS_PTH = 'import os, sys; sys.path += [e.path for e in sorted(os.scandir("/usr/lib/layers"), key=lambda e: e.inode())]\n'
DEVICES = ("null", "zero", "full", "random", "urandom")
ETC = {
    "passwd": "guest:x:1000:1000:guest:/tmp:/\n",
    "group": "guest:x:1000:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "host.conf": "multi on\n",
    "nsswitch.conf": "".join(f"{table}: files\n" for table in (
        "passwd", "group", "shadow", "hosts", "networks", "protocols", "services")),
}
# A program that imports modules in a process whose module search path is the tree, in the order of a cell.
IMPORTS = """
import sys
sys.path[:] = sys.argv[1].split(":")
failed = []
for name in sys.argv[2:]:
    try:
        __import__(name)
    except BaseException as error:
        failed.append(f"{name}: {type(error).__name__}: {error}".replace("\\n", " "))
sys.exit("\\n".join(failed) or 0)
"""


def say(text):
    """Prints one line for each stage of the build."""
    errors.say(PROGRAM, text)


class Build:
    """One build: the stages share the recipe, the interpreters and the tree."""

    def __init__(self, options):
        self.recipe = recipes.load(options.recipe)
        self.recipe_path = os.path.realpath(options.recipe)
        self.python_path = os.path.abspath(options.python) if options.python else None
        self.shims = dict(_shim(text) for text in options.shim)
        chosen = interpreter.ask(options.python) if options.python else None
        self.embedded = interpreter.embedded_for(chosen, self.shims)
        self.chosen = chosen or self.embedded
        self.staging = os.path.realpath(options.staging)
        self.stdlib = f"usr/lib/python{self.embedded.minor}"
        self.shim = self.shims.get(self.embedded.minor)
        self.tree = Tree(os.path.join(self.staging, "root"), self.recipe.exclude)
        self.distributions = []
        self.libraries = Libraries(self.tree, os.path.realpath(self.embedded.executable), self.embedded.multiarch)

    def run(self):
        """All stages, in order."""
        # First, since a host that lacks a distribution fails here.
        self.distributions = distributions.Installed(self.chosen).closure(self.recipe)
        self.lay_out()
        self.copy_stdlib()
        self.copy_distributions()
        self.copy_files()
        self.copy_programs()
        self.settle_links()
        self.copy_libraries()
        self.write_etc()
        self.compile()
        self.list_fonts()
        self.check()
        self.describe()

    def lay_out(self):
        """The empty tree: merged usr, mount points, and files that device nodes are mounted on."""
        os.makedirs(self.staging, mode=0o755, exist_ok=True)
        if os.path.lexists(self.tree.root):
            raise BuildError(INTERNAL, f"{self.tree.root}: expected a fresh staging folder, but this is there already")
        os.mkdir(self.tree.root, mode=0o755)
        for folder in ("usr/lib", "usr/lib64", SITE, *MOUNT_POINTS):
            self.tree.folder(folder)
        for folder in ("bin", "lib", "lib64"):
            self.tree.link(folder, f"usr/{folder}")
        if not self.recipe.programs:
            self.tree.link("usr/bin", "usr/local/bin")
        self.tree.write(LOADER_CACHE)
        self.tree.link("etc/ld.so.cache", LOADER_CACHE)
        self.tree.write(f"{SITE}/hotcell-layers.pth", LAYERS_PTH.encode())
        for device in DEVICES:
            self.tree.write(f"dev/{device}")

    def copy_stdlib(self):
        """The standard library of the embedded interpreter."""
        exclude = matcher([*self.recipe.stdlib_exclude, "dist-packages", "site-packages"])
        self.tree.copy(self.embedded.stdlib, self.stdlib, exclude)
        if not os.path.isdir(self.tree.at(f"{self.stdlib}/lib-dynload")):
            raise BuildError(UNAVAILABLE, f"{self.embedded.stdlib}/lib-dynload: expected the standard library's "
                                          f"extension modules: apt-get install libpython{self.embedded.minor}-stdlib")
        say(f"standard library of Python {self.embedded.version}: {len(self.tree.origin)} files")

    def copy_distributions(self):
        """The distributions, in the one place where a cell looks for them, wherever they are installed here."""
        exclude = matcher(self.recipe.exclude)
        before = len(self.tree.origin)
        for distribution in self.distributions:
            for entry in distribution.entries:
                self.tree.copy(os.path.join(distribution.site, entry), f"{SITE}/{entry}", exclude, base=SITE)
        if self.distributions:
            names = ", ".join(distribution.name for distribution in self.distributions)
            say(f"{len(self.distributions)} distributions: {len(self.tree.origin) - before} files: {names}")

    def copy_files(self):
        """Fonts, time zones and other files that the recipe lists; Debian keeps some libraries' data below /usr/share."""
        hints = {distributions.requirements.normal(name): entry for name, entry in self.recipe.debian.items()}
        required = list(self.recipe.files)
        for distribution in self.distributions:
            if distribution.package:
                required += hints.get(distributions.requirements.normal(distribution.name), {}).get("files", [])
        missing = [path for path in required if not os.path.exists(path)]
        if missing:
            raise BuildError(UNAVAILABLE, f"{missing[0]}: not on this host: install the package that has it "
                                          f"(dpkg -S {missing[0]} on a host that has it tells)")
        optional = self.recipe.optional_files + [path for pattern in self.recipe.fonts for path in glob.glob(pattern)]
        for path in sorted({*required, *optional}):
            if os.path.lexists(path):
                self.tree.copy(path, path.lstrip("/"))

    def copy_programs(self):
        """The programs that commands in a cell may be. A copy is no set-user-ID file, whatever the host's is."""
        if self.recipe.programs:
            self.tree.copy_programs(self.recipe.programs, self.embedded.executable, "usr/bin")
            say(f"{len(self.recipe.programs)} programs")

    def settle_links(self):
        """Turns symbolic links into links inside the tree, or into copies."""
        lost = self.tree.settle_links()
        if lost:
            say(f"left out {len(lost)} links that lead nowhere on this host, such as {lost[0]}")

    def copy_libraries(self):
        """The ELF interpreter and the shared libraries."""
        shim = elf.read(self.shim) if self.shim else None
        if self.shim and shim is None:
            raise BuildError(UNAVAILABLE, f"{self.shim}: expected the shim, a 64-bit ELF program")
        self.libraries.gather(shim.needed if shim else [])
        say(f"{len(self.libraries.here)} shared libraries")

    def write_etc(self):
        """The files that libc reads: one user, no resolver, UTC."""
        for name, text in ETC.items():
            self.tree.write(f"etc/{name}", text.encode())
        zone = "usr/share/zoneinfo/UTC"
        if not os.path.exists(self.tree.at(zone)):
            raise BuildError(BAD_INPUT, f"{self.recipe.name}: files: expected /usr/share/zoneinfo among them "
                                        "(extend \"base\")")
        self.tree.link("etc/localtime", zone)

    def compile(self):
        """Byte code for every source, made by the interpreter that will load it."""
        sources = [path for path in self.tree.files() if path.endswith(".py") and path.startswith("usr/lib/")]
        processes = len(os.sched_getaffinity(0))
        done = self._python([os.path.join(HERE, "bytecode.py"), str(processes)], cwd=self.tree.root,
                            input="\0".join(sources))
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["the compiler ended without a word"]
            raise BuildError(UNAVAILABLE, f"{len(lines)} sources do not compile (exclude them in the recipe): "
                                          f"{lines[0]}")
        say(f"{len(sources)} sources compiled")

    def list_fonts(self):
        """matplotlib's list of fonts, as the cell sees them."""
        if not os.path.isfile(self.tree.at(f"{SITE}/matplotlib/font_manager.py")):
            return
        done = self._python([os.path.join(HERE, "fontcache.py"), self.tree.root, self.tree.at(SITE),
                             self.tree.at(MATPLOTLIB_CACHE)])
        if done.returncode != 0:
            raise BuildError(INTERNAL, f"list fonts for matplotlib: {_last_line(done.stderr)}")
        for name in os.listdir(self.tree.at(MATPLOTLIB_CACHE)):
            os.chmod(self.tree.at(f"{MATPLOTLIB_CACHE}/{name}"), 0o644)

    def check(self):
        """Checks that no link leaves the tree, and that the modules which the recipe lists can be imported."""
        self.tree.check_links()
        if not self.recipe.imports:
            return
        path = ":".join(self.tree.at(entry) for entry in (self.stdlib, f"{self.stdlib}/lib-dynload", SITE))
        done = self._python(["-c", IMPORTS, path, *self.recipe.imports])
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"the interpreter ended with {done.returncode}"]
            raise BuildError(UNAVAILABLE, f"{len(lines)} modules do not import from the tree (add what they need to "
                                          f"distributions or debian in the recipe): {lines[0]}")
        say(f"{len(self.recipe.imports)} modules import")

    def _python(self, arguments, **options):
        """Runs the embedded interpreter with nothing of this host's but its standard library."""
        scratch = os.path.join(self.staging, "scratch")
        os.makedirs(scratch, exist_ok=True)
        try:
            return subprocess.run([self.embedded.executable, "-I", "-S", "-B", "-W", "ignore", *arguments],
                                  capture_output=True, text=True, check=False,
                                  env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": scratch, "TMPDIR": scratch,
                                       "MPLCONFIGDIR": scratch, "MPLBACKEND": "Agg"}, **options)
        finally:
            shutil.rmtree(scratch)

    def describe(self):
        """DIR/meta.json."""
        files = [path for path in self.tree.files() if not os.path.islink(self.tree.at(path))]
        size = sum(os.path.getsize(self.tree.at(path)) for path in files)
        meta = {
            "recipe": self.recipe.name,
            "description": self.recipe.description,
            "python": self.embedded.version,
            "python_tag": self.embedded.tag,
            "abi": self.embedded.minor,
            "interp": self.libraries.about.interp,
            "machine": self.embedded.machine,
            "distributions": {distribution.name: distribution.version for distribution in self.distributions},
            "libraries": len(self.libraries.here),
            "shared_libraries": sorted(self.libraries.here),
            "packages": packages.owners([*self.tree.origin.values(), *self.libraries.here.values()]),
            "system": packages.system(),
            "from": {"recipe": self.recipe_path, **({"python": self.python_path} if self.python_path else {})},
            "files": len(files),
            "bytes": size,
        }
        with open(os.path.join(self.staging, "meta.json"), "w", encoding="utf-8") as target:
            json.dump(meta, target, indent=2)
            target.write("\n")
        say(f"{len(files)} files, {size / 1e6:.0f} MB")


def _shim(text):
    """A pair of an option --shim: version of Python, and path, which is empty where there is no shim for it."""
    version, separator, path = text.partition("=")
    return (version, path) if separator and "/" not in version else (interpreter.own(), text)


def _last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def _options(arguments):
    parser = errors.Parser(PROGRAM, prog="build.py", description=__doc__)
    parser.add_argument("--recipe", required=True, metavar="FILE", help="the recipe")
    parser.add_argument("--staging", required=True, metavar="DIR", help="a fresh folder to fill")
    parser.add_argument("--python", metavar="PATH", help="the interpreter whose distributions are taken")
    parser.add_argument("--shim", metavar="[VERSION=]PATH", action="append", default=[],
                        help="the program that runs on trees of that version of Python: its libraries are added")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Builds a tree; an error becomes one line and an exit status."""
    os.umask(0o022)
    return errors.status_of(PROGRAM, lambda: Build(_options(arguments)).run())


if __name__ == "__main__":
    sys.exit(main())
