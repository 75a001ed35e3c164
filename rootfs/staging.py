"""staging - the tree while it grows: copies host files into it with plain modes and no link that leaves it."""

import os
import shutil
from fnmatch import fnmatchcase

from errors import INTERNAL, UNAVAILABLE, BuildError

PROGRAMS = "/usr/bin:/bin"  # where the host's programs are
DEEPEST = 64  # components of a path; more means that a link leads back to its own folder


def matcher(patterns):
    """A function that says whether a path matches one of the patterns, in which * stands for folders too, and none of those
    that begin with "!"."""
    but = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return lambda path: any(fnmatchcase(path, pattern) for pattern in patterns) and not any(fnmatchcase(path, pattern) for pattern in but)


class Tree:
    """The folder that becomes `/` of a cell. Paths inside are relative to it, with the standard folders below usr."""

    def __init__(self, root, exclude=()):
        self.root = root
        self.excluded = matcher([pattern[1:] for pattern in exclude if pattern.startswith("/")])
        self.origin = {}    # path in the tree -> the host file that it was copied from
        self.sources = []   # (host path, path in the tree) of each call of copy()
        self.links = []     # (host link, path in the tree, excluded), until settle_links()

    def at(self, path):
        """The path on the host of PATH in the tree."""
        return os.path.join(self.root, path)

    def folder(self, path):
        """Makes the folder PATH and its parents."""
        os.makedirs(self.at(path), mode=0o755, exist_ok=True)

    def write(self, path, data=b""):
        """Makes the file PATH with these bytes."""
        self.folder(os.path.dirname(path))
        with open(self.at(path), "wb") as target:
            target.write(data)
            os.fchmod(target.fileno(), 0o644)

    def link(self, path, target):
        """Makes the symbolic link PATH to TARGET, both paths in the tree; the link is relative."""
        self.folder(os.path.dirname(path))
        os.symlink(os.path.relpath("/" + target, "/" + os.path.dirname(path)), self.at(path))

    def copy(self, host, path, exclude=None, base=None):
        """Copies the host's file or folder to PATH. EXCLUDE sees paths relative to BASE, by default to PATH."""
        exclude = exclude or matcher(())
        base = path if base is None else base
        parts = os.path.relpath(path, base).split("/")
        if any(exclude("/".join(parts[:count])) for count in range(1, len(parts))):
            return   # a file of a folder that is excluded
        self.sources.append((os.path.realpath(host), path))
        self._copy(host, path, lambda inner: exclude(os.path.relpath(inner, base)))

    def copy_file(self, host, path, mode=0o644):
        """Copies one file, through links."""
        self.folder(os.path.dirname(path))
        shutil.copyfile(host, self.at(path))
        os.chmod(self.at(path), mode)
        self.origin[path] = os.path.realpath(host)

    def copy_programs(self, names, python, folder):
        """Copies programs of the host into FOLDER; PYTHON is the interpreter that python3 is. A copy is no set-user-ID file, whatever
        the host's is."""
        for name in sorted(names):
            host = python if name == "python3" else shutil.which(name, path=PROGRAMS)
            if host is None:
                raise BuildError(UNAVAILABLE, f"{name}: not on this host: install the package that has this program "
                                              "(apt-file search bin/NAME tells)")
            self.copy_file(host, f"{folder}/{name}", mode=0o755)

    def _copy(self, host, path, exclude):
        name = os.path.basename(path)
        if name == "__pycache__" or name.endswith(".pyc") or self.excluded(path) or exclude(path):
            return
        if path.count("/") > DEEPEST:
            raise BuildError(UNAVAILABLE, f"copy {host}: links lead deeper than {DEEPEST} folders")
        if os.path.islink(host):
            self.links.append((host, path, exclude))
        elif os.path.isdir(host):
            self.folder(path)
            for entry in sorted(os.listdir(host)):
                self._copy(f"{host}/{entry}", f"{path}/{entry}", exclude)
        elif os.path.isfile(host):
            self.copy_file(host, path)
        elif os.path.lexists(host):
            raise BuildError(UNAVAILABLE, f"copy {host}: expected a file, a folder or a link")
        else:
            raise BuildError(UNAVAILABLE, f"copy {host}: no such file: reinstall what it belongs to")

    def settle_links(self):
        """Makes every link that was found: to its target where the tree has it, else a copy of the target.

        Returns the links that lead nowhere on the host; the tree is without them.
        """
        lost = []
        while self.links:
            host, path, exclude = self.links.pop(0)
            real = os.path.realpath(host)
            if os.path.lexists(self.at(path)):
                continue
            if not os.path.exists(real):
                lost.append(host)
                continue
            inside = self._inside(real)
            if inside is not None:
                self.link(path, inside)
            else:
                self._copy(real, path, exclude)
        return lost

    def _inside(self, real):
        """The path in the tree of the host's file REAL; None if the tree does not have it."""
        for host, path in self.sources:
            if real == host or real.startswith(host + "/"):
                inside = path + real[len(host):]
                if os.path.lexists(self.at(inside)):
                    return inside
        same = real.lstrip("/")
        return same if os.path.lexists(self.at(same)) else None

    def files(self):
        """Every path in the tree that is not a folder, sorted."""
        found = []
        for folder, folders, names in os.walk(self.root):
            names += [name for name in folders if os.path.islink(os.path.join(folder, name))]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return sorted(found)

    def check_links(self):
        """Refuses a tree with a link that is absolute, leads nowhere, or leaves it."""
        root = os.path.realpath(self.root)
        for path in self.files():
            if not os.path.islink(self.at(path)):
                continue
            real = os.path.realpath(self.at(path))
            if os.path.isabs(os.readlink(self.at(path))) or not real.startswith(root + "/") or not os.path.exists(real):
                raise BuildError(INTERNAL, f"the link {path} leads out of the tree")
