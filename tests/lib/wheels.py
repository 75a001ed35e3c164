"""Wheels for tests: good ones, and those that want to get out of the place where they are taken apart."""

import base64
import hashlib
import io
import stat
import zipfile


def record_of(files):
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(rows)


def link(name, target):
    """An entry of an archive that is a symbolic link."""
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry, target.encode()


def make_wheel(folder, name="geo", version="1.0", files=None, requires=(), more=(), tag="py3-none-any"):
    """A wheel of the FILES (name -> bytes), which RECORD lists; then the entries MORE, pairs of ZipInfo or name, and bytes."""
    files = {f"{name}.py": b"def area(r):\n    return 3 * r * r\n"} if files is None else files
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {line}\n" for line in requires)
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": about.encode(), f"{info}/WHEEL": b"Wheel-Version: 1.0\nTag: py3-none-any\n"}
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files.items():
            archive.writestr(entry, data)
        for entry, data in more:
            archive.writestr(entry, data)
        archive.writestr(f"{info}/RECORD", record_of(files) + f"{info}/RECORD,,\n")
    return path


def pin(path):
    """The line of requirements for a wheel."""
    name, version = path.name.split("-")[:2]
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def unpack_carelessly(data, folder):
    """Takes an archive apart as a careless tool would: by the names in it, links followed, whatever its size."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            target = folder / entry.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            if stat.S_ISLNK(entry.external_attr >> 16):
                target.symlink_to(archive.read(entry).decode())
            else:
                target.write_bytes(archive.read(entry))
