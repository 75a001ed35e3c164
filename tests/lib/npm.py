"""Programs of others for Node.js that tests use, in the versions that a lock file pins."""

import shutil
import subprocess

import cells


def installed(source, name):
    """A directory below the build directory with the packages that source/package-lock.json lists and the other files and
    folders of `source`. Skips the test where they cannot be had."""
    cells.need_program("node")
    cells.need_program("npm")
    directory, lock = cells.BUILD / name, (source / "package-lock.json").read_text()
    done = directory / "installed"
    if not done.exists() or done.read_text() != lock:
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(source / file, directory)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
        npm = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=300)
        if npm.returncode:
            cells.skip(f"npm cannot install {name}: {npm.stderr[-400:]}")
        done.write_text(lock)
    for file in source.iterdir():
        if file.is_dir() and file.name != "node_modules":
            shutil.rmtree(directory / file.name, ignore_errors=True)
            shutil.copytree(file, directory / file.name)
        elif file.is_file() and file.name != "package-lock.json":
            shutil.copy(file, directory)
    return directory
