# pathlib.
from pathlib import Path, PurePosixPath
base = Path("tree")
(base / "one" / "two").mkdir(parents=True, exist_ok=True)
(base / "a.txt").write_text("alpha\nbeta\n")
(base / "one" / "b.py").write_bytes(b"print(1)")
(base / "one" / "two" / "c.txt").touch()
print(sorted(str(p) for p in base.rglob("*.txt")), sorted(p.name for p in base.iterdir()), (base / "a.txt").read_text().splitlines())
path = PurePosixPath("/usr/share/doc.tar.gz")
print(path.name, path.stem, path.suffix, path.suffixes, path.parent, path.parts, path.with_suffix(".zip"), path.with_name("x"), path.relative_to("/usr"))
print((base / "a.txt").exists(), base.is_dir(), (base / "a.txt").stat().st_size, Path("a") / "b" == Path("a/b"), path.match("*.gz"), Path.cwd() == Path().resolve())
(base / "a.txt").rename(base / "renamed.txt")
(base / "renamed.txt").unlink()
(base / "gone").unlink(missing_ok=True)
with (base / "one" / "b.py").open() as file:
    print(file.read(), [p.as_posix() for p in sorted(base.glob("**/*"))], (base / "one").joinpath("x").exists())
