"""Values of Python as JSON with tags, and back: exact, without pickle, and without importing anything that the JSON names.

JSON holds None, bool, int, float, str, list and dict as they are. Every other value is an object with one member whose name
begins with "$": {"$tuple": [1, 2]}, {"$decimal": "1.10"}. Arrays become .npy: in base64 within the JSON, or as members of a
.npz file, whose member HEADER is then the JSON. Only values of exactly the types below are carried; subclasses are not.

These functions read and write documents and files. What a value looks like in them stands in value_encoder and value_decoder, which
have tables of all types and tags, and in value_arrays, value_times and value_frames; what all of these share is in value_tags.

These modules are part of the package, and also frozen into the program that runs in a cell, joined to one (shim/harness/freeze.py):
so they import of the package only each other, from the top, and any other module only when they need it; and their names differ.
What they read may come from a hostile program.
"""

from __future__ import annotations

from .value_arrays import array_of, array_of_text, json_array
from .value_decoder import Decoder
from .value_encoder import Inline, Letter, Packed
from .value_tags import HEADER, MIME, NotCarried, TooLarge, contains_itself, is_data  # noqa: F401  NotCarried is for callers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional


def tagged(value: Any, room: int) -> Any:
    """A pair: the value as JSON with tags, in at most about `room` bytes, for a manifest; and a warning. The JSON is None if JSON without tags
    says the same, or the value is not carried; TooLarge itself if it has too many bytes. The warning is None unless the program's
    writer should know why the value comes back as text."""
    if type(value) is str and len(value) > room:
        return None, None  # as JSON it is too large, too
    try:
        encoder = Inline(room)
        node = encoder.encode(value, 0)
        return (node if encoder.tags else None), None
    except TooLarge as error:
        return (TooLarge, None) if error.bytes_only else (None, f"The value is here as text alone: {error}")
    except NotCarried as error:
        return None, f"The value is here as text alone: {error}" if is_data(value) else None
    except TimeoutError:
        raise
    except BaseException:  # the guest's classes may take part in this: it may be anything
        return None, None


def tagged_mime() -> str:
    """The MIME type of JSON with tags."""
    return MIME


def untagged(node: Any) -> Any:
    """The value of JSON with tags. ValueError if it is not well formed, ImportError if a library is missing."""
    return _read(Decoder(array_of_text), node)


def to_letter(value: Any, room: int, other: Callable[[Any], Any]) -> Any:
    """The value as JSON with tags, of about `room` bytes at most, for a process that reads it with of_letter. Of a value that is
    not carried, `other` gives what is carried in its place: (None, another value), or (what the other process's `other` gets as
    JSON,); or it raises NotCarried. NotCarried, TooLarge."""
    return Letter(room, other).encode(value, 0)


def of_letter(node: Any, other: Callable[[Any], Any]) -> Any:
    """The value of a letter, which may come from a hostile program. What the sender's `other` has put there in place of a value is
    given to `other`, whose result is the value. ValueError if the letter is not well formed."""
    return _read(Decoder(array_of_text, other), node)


def write_file(file: Any, value: Any) -> None:
    """Write a value with arrays, such as a DataFrame, to a binary file object as .npz. NotCarried: the value has no form."""
    encoder = Packed()
    node = encoder.encode(value, 0)
    pack(file, encoder, node)


def pack(file: Any, encoder: Any, node: Any) -> None:
    """Write the arrays that an encoder has put aside, and the JSON that names them. OSError: the file system is full, and the file is empty."""
    import os

    import numpy
    try:
        numpy.savez(file, **{HEADER: json_array(node)}, **encoder.arrays)
        return
    except OSError as error:
        os.ftruncate(file.fileno(), 0)  # numpy's archive writes its end when it goes, with this exception, and complains if it cannot
        why = error.errno, error.strerror
    raise OSError(*why)


def read_file(file: Any, limit: Optional[int] = None) -> Any:
    """The value from a file that write_file wrote; a dict of arrays from another .npz file. `limit`: the file's bytes, if it may
    come from a hostile program: then nothing in it is compressed, and all arrays have at most as many bytes together. ValueError
    and errors of zipfile: it is not such a file."""
    if limit is not None:
        import zipfile
        with zipfile.ZipFile(file) as archive:
            members = _plain_members(file, archive, limit)
            return _read_arrays(members, lambda name: array_of(archive.read(members[name])), True)
    import numpy
    with numpy.load(file, allow_pickle=False) as arrays:
        return _read_arrays(arrays.files, lambda name: arrays[name], False)


def _read_arrays(names: Any, load: Callable[[str], Any], hostile: bool) -> Any:
    """The value whose JSON is in the array HEADER, or without that a dict of all arrays."""
    import json
    if HEADER not in names:
        return {name: load(name) for name in names}
    used = {HEADER}

    def get(name: Any) -> Any:
        if not isinstance(name, str) or name in used:
            raise ValueError("no name of an array, or named twice")
        used.add(name)
        return load(name)
    return _read(Decoder(get), json.loads(load(HEADER).tobytes()), hostile)


def _plain_members(file: Any, archive: Any, limit: int) -> Dict[str, Any]:
    """{name of an array: member} of an archive. ValueError: its members could become more than `limit` bytes, or are not told apart."""
    members: Dict[str, Any] = {}
    end = total = 0
    for member in sorted(archive.infolist(), key=lambda member: member.header_offset):
        file.seek(member.header_offset)
        header = file.read(30)
        name = member.filename[:-4] if member.filename.endswith(".npy") else member.filename
        total += member.file_size
        if member.compress_type or member.file_size != member.compress_size or total > limit:
            raise ValueError("compressed, or larger than the file")
        if len(header) < 30 or member.header_offset < end or name in members:
            raise ValueError("members that overlap, or two of one name")
        end = member.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little") + member.file_size
        members[name] = member
    return members


def _read(decoder: Any, node: Any, hostile: bool = True) -> Any:
    try:
        return decoder.decode(node, 0)
    except ImportError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) and not hostile:
            raise
        raise ValueError(f"a value that is not well formed: {type(error).__name__}: {str(error)[:300]}") from error
