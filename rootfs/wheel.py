"""wheel - takes wheels apart strictly: files with plain names and nothing else, bounded, and none of their code is run."""

import base64
import csv
import hashlib
import os
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from email.parser import HeaderParser

import programs
import requirements
from errors import BAD_INPUT, BuildError

NAME = re.compile(r"([A-Za-z0-9._]+)-([A-Za-z0-9.!+_]+)(?:-(\d[A-Za-z0-9._]*))?-([A-Za-z0-9._]+)-([A-Za-z0-9._]+)-([A-Za-z0-9._]+)\.whl")
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
MOST_WHEEL = 1 << 30       # bytes of a wheel
MOST_BYTES = 4 << 30       # bytes of a layer
MOST_FILES = 50000         # files of a layer
MOST_RATIO = 200           # times that a file may be larger than it is in the archive
SMALL = 1 << 20            # bytes of a file to which MOST_RATIO does not apply
DEEPEST = 32               # components of a path
LONGEST = 200              # bytes of a component
CHUNK = 1 << 20
MOST_METADATA = 16 << 20   # bytes of a METADATA or RECORD
MOST_DIRECTORY = 32 << 20  # bytes of an archive's directory
MOST_ENTRIES = MOST_FILES + MOST_FILES // 4  # files and folders of an archive
END = struct.Struct("<4s4HLLH")  # an archive's end record
LOCATOR = 20                     # bytes that zip64 has before it
OUTSIDE = ("headers", "data")  # folders of NAME.data that are installed outside of the modules
UNSIGNED = ("RECORD", "RECORD.jws", "RECORD.p7s")  # files of .dist-info without a hash in RECORD
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, RuntimeError, UnicodeDecodeError,
          OverflowError, ValueError, csv.Error)


@dataclass(frozen=True)
class Wheel:
    """A wheel's file by its name."""

    path: str
    name: str  # in the one spelling of requirements.normal()
    version: str
    build: str
    pythons: tuple
    abis: tuple
    platforms: tuple


def of_directory(folder):
    """The wheels in FOLDER, by their names; what is no wheel is passed over."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        raise BuildError(BAD_INPUT, f"{folder}: {error.strerror}: expected a directory of wheels") from error
    found = []
    for entry in entries:
        match = NAME.fullmatch(entry)
        if match:
            found.append(Wheel(os.path.join(folder, entry), requirements.normal(match[1]), match[2].replace("_", "-"), match[3] or "",
                               *(tuple(match[tag].split(".")) for tag in (4, 5, 6))))
    return found


def fits(wheel, minor, machine):
    """How well the wheel fits Python MINOR on MACHINE, as a number: the highest is the best; None if it does not fit."""
    digits = minor.replace(".", "")
    native = any(re.fullmatch(rf"(manylinux\w*|linux)_{machine}", platform) for platform in wheel.platforms)
    if not native and "any" not in wheel.platforms:
        return None
    if f"cp{digits}" in wheel.pythons and {f"cp{digits}", "abi3", "none"} & set(wheel.abis):
        return 3
    older = (re.fullmatch(r"cp3(\d+)", python) for python in wheel.pythons)
    if "abi3" in wheel.abis and any(tag and int(tag[1]) <= int(minor.split(".")[1]) for tag in older):
        return 2
    if "none" in wheel.abis and {"py3", f"py{digits}"} & set(wheel.pythons):
        return 1
    return None


def check_about(about, place):
    """Refuses METADATA whose name and version are none, as both are shown to people."""
    words = [about.get(key) or "" for key in ("Name", "Version")]
    if not all(len(word) <= LONGEST and WORD.fullmatch(word) for word in words):
        raise BuildError(BAD_INPUT, f"{place}: expected a name and a version in its METADATA")


class Room:
    """What a layer may still take; its files, each made once."""

    def __init__(self, root, names=None):
        self.root = root
        self.names = names  # programs.Names: what programs may be called
        self.programs = set()
        self.files, self.bytes = 0, 0

    def take(self, size, place):
        """Counts one more file of SIZE bytes."""
        self.files += 1
        self.bytes += size
        if self.files > MOST_FILES:
            raise BuildError(BAD_INPUT, f"{place}: the layer would have more than {MOST_FILES} files")
        if self.bytes > MOST_BYTES:
            raise BuildError(BAD_INPUT, f"{place}: the layer would have more than {MOST_BYTES >> 30} GiB")

    def create(self, parts, place):
        """A new file of modules at PARTS below the root, open for writing."""
        if parts[0] in (programs.PROGRAMS, programs.SYSTEM):
            raise BuildError(BAD_INPUT, f"{place}: {'/'.join(parts)}: a layer's own folder has this name")
        return self._create(parts, place)

    def create_program(self, name, place):
        """A new program, open for writing."""
        self.names.check(name, place)
        self.programs.add(name)
        target = self._create([programs.PROGRAMS, name], place)
        os.fchmod(target.fileno(), 0o755)
        return target

    def add_console_scripts(self, text, place):
        """The programs that an entry_points.txt names."""
        for name, data in programs.console_scripts(text, place).items():
            self.take(len(data), place)
            with self.create_program(name, place) as target:
                target.write(data)

    def _create(self, parts, place):
        """A new file at PARTS. Every folder of it is a folder that the layer made itself."""
        folder = self.root
        for part in parts[:-1]:
            folder = os.path.join(folder, part)
            try:
                os.mkdir(folder, 0o755)
            except FileExistsError:
                if not stat.S_ISDIR(os.lstat(folder).st_mode):
                    raise BuildError(BAD_INPUT, f"{place}: {'/'.join(parts)}: a file stands where its folder should") from None
        try:
            fd = os.open(os.path.join(folder, parts[-1]), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            raise BuildError(BAD_INPUT, f"{place}: {'/'.join(parts)}: the layer has this file already") from None
        return os.fdopen(fd, "wb")


def _copy(path):
    """A private copy of a wheel, its size and its hash. Whoever may write to the wheel could change it between hashing and unpacking; the
    copy has no name, and what is hashed are its bytes."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb", buffering=0) as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise BuildError(BAD_INPUT, f"{path}: expected a regular file")
        copy, digest, size = tempfile.TemporaryFile(), hashlib.sha256(), 0  # pylint: disable=consider-using-with
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > MOST_WHEEL:
                copy.close()
                raise BuildError(BAD_INPUT, f"{path}: expected at most {MOST_WHEEL >> 20} MiB")
            digest.update(chunk)
            copy.write(chunk)
    return copy, size, digest.hexdigest()


class Opened:
    """A wheel whose bytes have one of the hashes that were asked for, taken apart by unpack()."""

    def __init__(self, wheel, hashes):
        self.wheel = wheel
        self.label = os.path.basename(wheel.path)
        self.file, self.size, self.sha256 = _copy(wheel.path)
        if self.sha256 not in hashes:
            self.file.close()
            raise BuildError(BAD_INPUT, f"{wheel.path}: SHA-256 {self.sha256} is none of those that the requirements give for {wheel.name}")

    def unpack(self, room):
        """Writes the wheel's modules below the room's root. Returns how many files were left out, as they belong elsewhere."""
        try:
            with self.file:
                self._check_directory()
                with zipfile.ZipFile(self.file) as archive:
                    return self._unpack(archive, room)
        except BROKEN as error:
            raise BuildError(BAD_INPUT, f"{self.label}: not a wheel that can be read: {error}") from error

    def _check_directory(self):
        """Refuses a directory that is too large, before ZipFile() holds all of it. ZipFile() goes by the directory's size and not by the
        number of its entries, so they are counted."""
        self.file.seek(max(0, self.size - LOCATOR - END.size))
        locator, end = self.file.read(LOCATOR), self.file.read(END.size)
        signature, *_, length, _, comment = END.unpack(end.rjust(END.size, b"\0"))
        begin = self.size - END.size - length
        if signature != b"PK\5\6" or comment or locator.startswith(b"PK\6\7") or begin < 0:
            raise BuildError(BAD_INPUT, f"{self.label}: expected an archive that ends with its end record, not of zip64 and without a comment")
        self.file.seek(begin)
        if length > MOST_DIRECTORY or self.file.read(length).count(b"PK\1\2") > MOST_ENTRIES:
            raise BuildError(BAD_INPUT, f"{self.label}: expected an archive of at most {MOST_ENTRIES} entries, with a directory of at most "
                                        f"{MOST_DIRECTORY >> 20} MiB")

    def _unpack(self, archive, room):
        entries = [entry for entry in archive.infolist() if self._check_kind(entry)]
        if len({entry.filename for entry in entries}) < len(entries):
            raise BuildError(BAD_INPUT, f"{self.label}: a file stands in it twice")
        records = self._records(archive, entries)
        unpacked = sum(entry.file_size for entry in entries)  # also of entries that share their bytes
        if unpacked > SMALL and unpacked > MOST_RATIO * self.size:
            raise BuildError(BAD_INPUT, f"{self.label}: its files would be more than {MOST_RATIO} times as large as the archive")
        left_out = 0
        self._add_console_scripts(archive, entries, room)
        for entry in entries:
            parts = self._parts(entry.filename)
            if self._is_script(parts):
                room.take(entry.file_size, self.label)
                self._write(archive, entry, room.create_program(parts[2], self.label), records.get(entry.filename), programs.with_interpreter)
                continue
            place = self._place(parts)
            if place is None:
                left_out += 1
                continue
            room.take(entry.file_size, self.label)
            self._write(archive, entry, room.create(place, self.label), records.get(entry.filename))
        return left_out

    def _is_script(self, parts):
        """Whether the file is a program of the wheel."""
        if not parts[0].endswith(".data") or parts[1:2] != ["scripts"]:
            return False
        if len(parts) != 3:
            raise BuildError(BAD_INPUT, f"{self.label}: {'/'.join(parts)!r}: expected a program in no folder of its own")
        return True

    def _add_console_scripts(self, archive, entries, room):
        """Writes the programs that the wheel's entry points name. RECORD's hash of them is compared as for every file."""
        for entry in entries:
            if entry.filename.endswith(".dist-info/entry_points.txt") and entry.filename.count("/") == 1:
                if entry.file_size > programs.MOST_TABLE:
                    raise BuildError(BAD_INPUT, f"{self.label}: {entry.filename!r}: expected at most {programs.MOST_TABLE >> 20} MiB")
                room.add_console_scripts(archive.read(entry).decode(), self.label)

    def _check_kind(self, entry):
        """Whether the entry is a file. Refuses what is neither a file nor a folder, or too large for what it is."""
        kind = stat.S_IFMT(entry.external_attr >> 16)
        name = repr(entry.filename[:100])
        self._parts(entry.filename.removesuffix("/"))
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise BuildError(BAD_INPUT, f"{self.label}: {name} is a link or a special file: expected files and folders")
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BuildError(BAD_INPUT, f"{self.label}: {name} is encrypted, or compressed by something other than deflate")
        if entry.file_size > SMALL and entry.file_size > MOST_RATIO * entry.compress_size:
            raise BuildError(BAD_INPUT, f"{self.label}: {name} would be more than {MOST_RATIO} times as large as in the archive")
        return not entry.filename.endswith("/")

    def _parts(self, name):
        """The components of a path that stays within the layer."""
        parts = name.split("/")
        plain = all(part and part not in (".", "..") and len(part.encode("utf-8", "replace")) <= LONGEST for part in parts)
        if not plain or len(parts) > DEEPEST or "\\" in name or not name.isprintable():
            raise BuildError(BAD_INPUT, f"{self.label}: {name[:100]!r}: expected the path of a file below the wheel's top, without '..'")
        return parts

    def _place(self, parts):
        """Where the file belongs below the layer's root; None: outside, or it is byte code that nobody compared with a source."""
        if parts[0].endswith(".data") and len(parts) > 2:
            if parts[1] in OUTSIDE:
                return None
            parts = parts[2:]
        if len(parts) == 1 and parts[0].endswith(".pth"):
            raise BuildError(BAD_INPUT, f"{self.label}: {parts[0]}: files that change the module path have no effect in a cell")
        return None if "__pycache__" in parts or parts[-1].endswith(".pyc") else parts

    def _metadata_of(self, archive, entries, name):
        found = [entry for entry in entries if entry.filename.endswith(f".dist-info/{name}") and entry.filename.count("/") == 1]
        if len(found) != 1 or found[0].file_size > MOST_METADATA:
            raise BuildError(BAD_INPUT, f"{self.label}: expected one .dist-info/{name}")
        return archive.read(found[0]).decode()

    def _records(self, archive, entries):
        """The hashes that the wheel gives for its files."""
        self.about = HeaderParser().parsestr(self._metadata_of(archive, entries, "METADATA"))
        check_about(self.about, self.label)
        if requirements.normal(self.about["Name"]) != self.wheel.name:
            raise BuildError(BAD_INPUT, f"{self.label}: its METADATA is that of {self.about['Name']}")
        if requirements.normal_version(self.about["Version"]) != requirements.normal_version(self.wheel.version):
            raise BuildError(BAD_INPUT, f"{self.label}: its METADATA is that of version {self.about['Version']}")
        rows = csv.reader(self._metadata_of(archive, entries, "RECORD").splitlines())
        return {row[0]: row[1] for row in rows if len(row) == 3}

    def _write(self, archive, entry, target, record, change=None):
        """Copies one entry; the archive's size and RECORD's hash of it have to be right. CHANGE makes other bytes of its first ones."""
        digest, copied = hashlib.sha256(), 0
        with target, archive.open(entry) as source:
            while chunk := source.read(CHUNK):
                copied += len(chunk)
                if copied > entry.file_size:
                    break
                digest.update(chunk)
                target.write(change(chunk) if change and copied == len(chunk) else chunk)
        if copied != entry.file_size:
            raise BuildError(BAD_INPUT, f"{self.label}: {entry.filename!r} is not as long as the archive says")
        unsigned = entry.filename.endswith(tuple(f".dist-info/{name}" for name in UNSIGNED))
        want = "sha256=" + base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
        if not unsigned and record != want:
            raise BuildError(BAD_INPUT, f"{self.label}: {entry.filename!r} has not the SHA-256 that its RECORD gives")
