"""conda - reads what a conda environment notes of its packages, in conda-meta/*.json. Anybody may have written these files."""

import json
import re
from dataclasses import dataclass

import wheel
from errors import BAD_INPUT, BuildError

WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9.!+_-]*")
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_LICENSE = 200  # characters


@dataclass(frozen=True)
class Package:
    """A package of an environment."""

    name: str
    version: str
    build: str
    channel: str   # its name, without the address that it was fetched from
    platform: str  # conda's "subdir"
    license: str
    sha256: str    # of the archive; "": not noted
    files: tuple   # paths below the environment

    def note(self, distributions):
        """What a layer keeps of it. DISTRIBUTIONS: names of its Python distributions."""
        rows = {"version": self.version, "build": self.build, "channel": self.channel, "platform": self.platform, "license": self.license,
                "sha256": self.sha256}
        return {**{key: value for key, value in rows.items() if value}, "distributions": sorted(distributions)}


def read(environment):
    """The packages of an environment, which is an open folder, by their names."""
    try:
        with environment.open("conda-meta") as folder:
            packages = [_package(folder, entry) for entry in folder.entries() if entry.endswith(".json")]
    except BuildError as error:
        raise BuildError(BAD_INPUT, f"{environment.path}: expected a conda environment, with conda-meta: {error}") from error
    return sorted(packages, key=lambda package: package.name)


def _package(folder, entry):
    with folder.open(entry) as file:
        text, place = file.text(wheel.MOST_METADATA), file.path
    try:
        about = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BuildError(BAD_INPUT, f"{place}: expected JSON: {error}") from error
    files = about.get("files") if isinstance(about, dict) else None
    if not isinstance(files, list) or not all(isinstance(path, str) for path in files):
        raise BuildError(BAD_INPUT, f"{place}: expected an object with \"files\", a list of paths")
    return Package(_word(about, "name", place), _word(about, "version", place), _or_none(about, "build", WORD), _channel(about),
                   _or_none(about, "subdir", WORD), _license(about), _or_none(about, "sha256", SHA256), tuple(files))


def _word(about, key, place):
    found = _or_none(about, key, WORD)
    if not found:
        raise BuildError(BAD_INPUT, f"{place}: expected \"{key}\", a word of at most {wheel.LONGEST} letters, digits and signs")
    return found


def _or_none(about, key, pattern):
    value = about.get(key)
    return value if isinstance(value, str) and len(value) <= wheel.LONGEST and pattern.fullmatch(value) else ""


def _channel(about):
    """The last name of the channel's address, which may hold a token before it and the platform behind it."""
    value = about.get("channel")
    names = [name for name in value.split("/") if name] if isinstance(value, str) else []
    if names and names[-1] == about.get("subdir"):
        names.pop()
    return _or_none({"channel": names[-1] if names else ""}, "channel", WORD)


def _license(about):
    value = about.get("license")
    return value if isinstance(value, str) and len(value) <= MOST_LICENSE and value.isprintable() else ""
