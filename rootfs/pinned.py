"""pinned - reads requirements as pip's --require-hashes wants them: each with one version and the hashes of its files."""

import re
from dataclasses import dataclass

import requirements
from errors import BAD_INPUT, BuildError

LINE = re.compile(requirements.NAME + r"\s*+==\s*+([A-Za-z0-9][A-Za-z0-9.!+_-]*+)\s*+(?:;\s*+(.*))?", re.DOTALL)
HASH = re.compile(r"--hash(?:=|\s+)(\S+)")
SHA256 = re.compile(r"sha256:([0-9a-f]{64})")
HARMLESS = ("--require-hashes", "--only-binary :all:", "--only-binary=:all:", "--no-deps")  # what is so in any case
MOST_BYTES = 4 << 20


@dataclass(frozen=True)
class Pin:
    """One requirement: a distribution, its version, and the SHA-256 hashes that its file may have."""

    name: str  # in the one spelling of requirements.normal()
    version: str
    extras: frozenset
    hashes: frozenset
    line: int  # where it begins in the file


def read(path, markers):
    """The pins of the file PATH that hold in the environment MARKERS, in the file's order."""
    try:
        with open(path, encoding="utf-8") as source:
            text = source.read(MOST_BYTES + 1)
    except OSError as error:
        raise BuildError(BAD_INPUT, f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BuildError(BAD_INPUT, f"{path}: byte {error.start}: expected UTF-8 text") from error
    if len(text) > MOST_BYTES:
        raise BuildError(BAD_INPUT, f"{path}: expected at most {MOST_BYTES} characters")
    pins = {}
    for number, line in _logical_lines(text):
        pin = _pin(f"{path}:{number}", number, line, markers)
        if pin and pin.name in pins:
            raise BuildError(BAD_INPUT, f"{path}:{number}: {pin.name} is in line {pins[pin.name].line} already")
        if pin:
            pins[pin.name] = pin
    if not pins:
        raise BuildError(BAD_INPUT, f"{path}: expected requirements, such as name==1.0 --hash=sha256:...")
    return list(pins.values())


def _logical_lines(text):
    """Lines without comments, joined where a backslash ends them, each with the number of its first."""
    begun, held = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or number
        held += re.sub(r"(^|\s)#.*$", "", line)
        if held.endswith("\\"):
            held = held[:-1] + " "
            continue
        if held.strip():
            yield begun, held.strip()
        begun, held = 0, ""
    if held.strip():
        yield begun, held.strip()


def _pin(place, number, line, markers):
    if line in HARMLESS:
        return None
    if line.startswith("-") or "://" in line or " @ " in line:
        raise BuildError(BAD_INPUT, f"{place}: {line.split()[0]}: expected name==version and its hashes: options, addresses and "
                                    "other files are not followed")
    hashes = HASH.findall(line)
    match = LINE.fullmatch(HASH.sub("", line).strip())
    if not match:
        raise BuildError(BAD_INPUT, f"{place}: expected name==version --hash=sha256:HEX, got {line[:80]!r}")
    if not hashes:
        raise BuildError(BAD_INPUT, f"{place}: {match[1]}: expected at least one --hash=sha256:HEX (pip hash FILE prints it)")
    if match[4] and not _holds(place, match[1], match[4].strip(), markers):
        return None
    known = frozenset(found[1] for found in map(SHA256.fullmatch, hashes) if found)
    if not known:
        raise BuildError(BAD_INPUT, f"{place}: {match[1]}: expected a hash of SHA-256, 64 hexadecimal digits")
    extras = frozenset(requirements.normal(extra.strip()) for extra in (match[2] or "").split(",") if extra.strip())
    return Pin(requirements.normal(match[1]), match[3], extras, known, number)


def _holds(place, name, marker, markers):
    try:
        return requirements.applies(requirements.Requirement(name, frozenset(), marker), markers, ())
    except ValueError as error:
        raise BuildError(BAD_INPUT, f"{place}: {error}") from error
