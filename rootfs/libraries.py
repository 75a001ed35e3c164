"""libraries - gives a tree the ELF interpreter and the closure of the shared libraries that its files need."""

import os
from collections import deque

import elf
from errors import UNAVAILABLE, BuildError

# glibc opens it by name, when a thread is cancelled or a C++ exception unwinds.
OPENED_BY_NAME = ("libgcc_s.so.1",)


def folder_of(multiarch):
    """The folder of a tree that the loader always searches."""
    return f"usr/lib/{multiarch}" if multiarch else "usr/lib64"


class Libraries:
    """Copies each library, under the name by which it is needed, into the one folder that the loader always searches."""

    def __init__(self, tree, program, multiarch, folder=None):
        self.tree = tree
        self.program = program
        self.about = elf.read(program)
        if self.about is None or self.about.interp is None:
            raise BuildError(UNAVAILABLE, f"{program}: expected a 64-bit little-endian dynamically linked program")
        self.resolver = elf.Resolver(self.about.machine, multiarch)
        self.folder = folder or folder_of(multiarch)
        self.here = {}      # name -> host file that was copied
        self.carried = {}   # name -> path, for libraries inside distributions

    def gather(self, extra):
        """Adds the loader and all libraries that the program, the names EXTRA and the files of the tree need."""
        tree_folder = self.tree.at(self.folder)
        os.makedirs(tree_folder, mode=0o755, exist_ok=True)
        interp = "usr" + self.about.interp if not self.about.interp.startswith("/usr/") else self.about.interp[1:]
        self.tree.copy_file(self.about.interp, interp, mode=0o755)
        # The shim has libpython in itself.
        own = [name for name in self.about.needed if not name.startswith("libpython")]
        needed = [*own, *OPENED_BY_NAME, *extra]
        self._follow([(self.program, os.path.dirname(os.path.realpath(self.program)), needed, self.about, ())])

    def gather_more(self, there):
        """Adds the libraries that the files of the tree need beyond those THERE, which are names."""
        self.here = dict.fromkeys(there)
        self._follow([])
        self.here = {name: found for name, found in self.here.items() if found}

    def _follow(self, more):
        queue = deque([*self._carried(), *more])
        while queue:
            self._supply(queue, *queue.popleft())

    def _carried(self):
        """The ELF files that are in the tree already."""
        for path in self.tree.files():
            if path.endswith(".py") or os.path.islink(self.tree.at(path)) or path not in self.tree.origin:
                continue
            about = elf.read(self.tree.at(path))
            if about is None:
                continue
            if about.machine != self.about.machine:
                raise BuildError(UNAVAILABLE, f"{path}: built for another processor than {self.program}")
            self.carried[os.path.basename(path)] = path
            self.carried.setdefault(about.soname, path)
            yield path, os.path.dirname(self.tree.origin[path]), about.needed, about, ()

    def _supply(self, queue, owner, origin, needed, about, inherited):
        rpath = tuple(elf.expand(about.rpath, origin)) + inherited
        own = self._tree_origin(owner, about)
        search = own + list(rpath) + elf.expand(about.runpath, origin)
        for name in needed:
            if name in self.here or name == os.path.basename(self.about.interp):
                continue
            found = self.resolver.find(name, search)
            if found is not None and found.startswith(self.tree.root + "/"):
                continue
            if name in self.carried:
                continue   # inside a distribution that loads it before it is needed, or one that $ORIGIN finds
            if found is None:
                raise BuildError(UNAVAILABLE, f"{owner} needs {name}, which is not on this host: install the package "
                                              "that has it, or exclude the file in the recipe")
            self.tree.copy_file(found, f"{self.folder}/{name}")
            self.here[name] = found
            real = os.path.realpath(found)
            library = elf.read(real)
            queue.append((found, os.path.dirname(real), library.needed, library, rpath))

    def _tree_origin(self, owner, about):
        """$ORIGIN as the loader will see it in the cell."""
        if owner not in self.tree.origin:
            return []
        return elf.expand(about.rpath + about.runpath, os.path.dirname(self.tree.at(owner)))
