"""distributions - which installed distributions a recipe needs, and which files they consist of."""

import os
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import PathDistribution
from pathlib import Path

import requirements
from errors import UNAVAILABLE, BuildError

# Files that the installer writes about itself and this host; they differ from build to build.
INSTALLER_FILES = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "installed-files.txt", "SOURCES.txt")


@dataclass
class Distribution:
    """One installed distribution."""

    name: str                   # as it spells itself
    version: str
    site: str                   # the directory on sys.path that holds it
    metadata: str               # name of its .dist-info or .egg-info in there
    package: str | None = None  # the Debian package that owns it
    entries: list = field(default_factory=list)  # its files and directories, relative to site


class Installed:
    """The distributions that an interpreter sees. The first on its path wins, as it does in an import."""

    def __init__(self, interpreter):
        self.interpreter = interpreter
        self.found = {}
        for site in interpreter.path:
            for entry in sorted(os.listdir(site)):
                if entry.endswith((".dist-info", ".egg-info")):
                    self._add(site, entry)

    def _add(self, site, entry):
        about = PathDistribution(Path(site, entry))
        name = about.metadata["Name"] if about.metadata else None
        if name:
            self.found.setdefault(requirements.normal(name), (about, Distribution(name, about.version, site, entry)))

    def closure(self, recipe):
        """The distributions that RECIPE names and all that they require, sorted by name, each with its entries."""
        hints = {requirements.normal(name): entry for name, entry in recipe.debian.items()}
        self._find_packages()
        wanted = [(requirements.normal(name), frozenset(), None) for name in recipe.distributions]
        chosen, seen, missing = {}, set(), {}
        while wanted:
            name, extras, owner = wanted.pop(0)
            if (name, extras) in seen:
                continue
            seen.add((name, extras))
            here = self._known_as(name, hints)
            if here is None:
                missing.setdefault(name, owner)
                continue
            about, distribution = self.found[here]
            chosen[name] = distribution
            wanted += [(needed, with_extras, name) for needed, with_extras in self._requires(about, extras)]
            if distribution.package:
                more = hints.get(name, {}).get("requires", [])
                wanted += [(requirements.normal(needed), frozenset(), name) for needed in more]
        if missing:
            raise BuildError(UNAVAILABLE, self._complaint(missing, hints))
        for distribution in chosen.values():
            distribution.entries = self._entries(distribution)
        return [chosen[name] for name in sorted(chosen)]

    def _known_as(self, name, hints):
        """The name under which NAME is installed, or None: a release may have a distribution that took another's place."""
        names = [name, *map(requirements.normal, hints.get(name, {}).get("also", []))]
        return next((known for known in names if known in self.found), None)

    def _requires(self, about, extras):
        for line in about.requires or []:
            try:
                needed = requirements.parse(line)
                if requirements.applies(needed, self.interpreter.markers, extras):
                    yield needed.name, needed.extras
            except ValueError as error:
                raise BuildError(UNAVAILABLE, f"{about.metadata['Name']}: Requires-Dist: {error}") from error

    def _complaint(self, missing, hints):
        names = [name if owner is None else f"{name} (which {owner} requires)" for name, owner in missing.items()]
        if self.interpreter.environment:
            mend = f"{self.interpreter.asked} -m pip install {' '.join(missing)}"
        else:
            packages = [hints.get(name, {}).get("package", f"python3-{name}") for name in missing]
            mend = f"apt-get install {' '.join(packages)}"
        return f"not installed for {self.interpreter.asked}: {', '.join(names)}: {mend}"

    def _find_packages(self):
        paths = {os.path.join(d.site, d.metadata): d for _, d in self.found.values()}
        for line in _dpkg("-S", *paths):
            owners, _, path = line.rpartition(": ")
            if path in paths and owners and not owners.startswith("diversion "):
                paths[path].package = owners.split(", ")[0]

    def _entries(self, distribution):
        if distribution.package:
            return _package_entries(distribution)
        about, _ = self.found[requirements.normal(distribution.name)]
        if '"editable": true' in (about.read_text("direct_url.json") or ""):
            raise BuildError(UNAVAILABLE, f"{distribution.name} is installed in editable form: install a copy of it: "
                                          f"{self.interpreter.asked} -m pip install PATH")
        if about.files is None:
            raise BuildError(UNAVAILABLE, f"{distribution.name} has no list of its files in "
                                          f"{distribution.site}/{distribution.metadata}: install it with pip")
        entries = {os.path.normpath(str(path)) for path in about.files}
        # Files elsewhere (bin, share/man) are for people at a shell; a cell has no shell.
        return _entries_of(distribution, (entry for entry in entries if not entry.startswith(("..", "/"))))


def _entries_of(distribution, entries):
    own = [entry for entry in entries if entry.split("/")[0] != distribution.metadata and not entry.endswith(".pth")]
    return sorted(own) + _metadata_entries(distribution)


def _metadata_entries(distribution):
    """The metadata less what only an installer reads, and less what holds paths of this host."""
    folder = os.path.join(distribution.site, distribution.metadata)
    if not os.path.isdir(folder):
        return [distribution.metadata]
    return [f"{distribution.metadata}/{name}" for name in sorted(os.listdir(folder)) if name not in INSTALLER_FILES]


def _package_entries(distribution):
    """The top-level modules and packages that its Debian package puts there, whole: Debian splits some libraries
    (python3-pandas, python3-pandas-lib) into packages that share a directory."""
    prefix = distribution.site + "/"
    names = {path[len(prefix):].split("/")[0] for path in _dpkg("-L", distribution.package) if path.startswith(prefix)}
    modules = [name for name in names if not name.endswith((".dist-info", ".egg-info", "-info"))]
    return _entries_of(distribution, (name for name in modules if os.path.lexists(prefix + name)))


def _dpkg(*arguments):
    try:
        answer = subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False,
                                env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    except FileNotFoundError:
        return []
    return answer.stdout.splitlines()
