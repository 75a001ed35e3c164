"""scripts/vm: the machine in which other tests run says what its command said and how it ended, and nothing of it stays."""

import os
import signal
import subprocess
from pathlib import Path

import cells
import pytest

VM = Path(__file__).resolve().parents[2] / "scripts/vm"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hotcell-vm"
BOOT = 300  # seconds until the command runs, on a busy host without KVM


@pytest.fixture(scope="module", autouse=True)
def parts():
    if os.uname().machine != "x86_64":
        cells.skip("the test machine is x86-64")
    done = subprocess.run([VM, "--setup"], capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def folder():
    return cells.new_directory(cells.caller())


def command(script, *options):
    return [VM, "--timeout", str(BOOT), *options, "--", "bash", "-c", script]


def run(folder, script, *options):
    return subprocess.run(command(script, *options), cwd=folder, capture_output=True, text=True, check=False, timeout=BOOT + 60)


def machines(folder):
    """Processes of machines that share the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"path={folder},".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:  # it has ended
            continue
    return found


def run_folders():
    return set(CACHE.glob("run.*"))


def test_output_status_and_shared_folder(folder):
    before = run_folders()
    done = run(folder, "id -u; echo word >&2; echo kept >result; touch /usr/forgotten; ls $VM_CGROUP; exit 7")
    assert done.returncode == 7, done
    assert done.stdout.split()[:2] == ["0", "word"]
    assert "memory.max" in done.stdout and (folder / "result").read_text() == "kept\n"
    assert not Path("/usr/forgotten").exists()
    assert not run_folders() - before and not machines(folder)


def test_user_copy_and_signal(folder):
    (folder / "copied").mkdir()
    (folder / "copied/there").write_text("text")
    done = run(folder, "id -u; cat copied/there; echo x >copied/new && echo written; kill -SEGV $$", "--user", "--copy", "copied")
    assert done.returncode == 128 + signal.SIGSEGV, done
    assert done.stdout.split()[0] not in ("0", "") and "text" in done.stdout and "written" in done.stdout
    assert os.listdir(folder / "copied") == ["there"]


def test_time_limit(folder):
    done = subprocess.run([VM, "--timeout", "5", "--", "sleep", "1000"], cwd=folder, capture_output=True, text=True, check=False,
                          timeout=BOOT)
    assert done.returncode == 124 and "timed out after 5 s" in done.stderr
    assert not machines(folder)


def test_reader_that_goes_away(folder):
    with subprocess.Popen(command("while echo line; do sleep .1; done"), cwd=folder, stdout=subprocess.PIPE) as vm:
        assert vm.stdout.readline() == b"line\n"
        vm.stdout.close()
        assert vm.wait(60) == 141
    assert not machines(folder)


def test_the_machine_ends_with_its_caller(folder):
    """Even killed, when it can do nothing about it any more."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen(command("echo up; sleep 1000"), cwd=folder, stdout=subprocess.PIPE) as vm:
            assert vm.stdout.readline() == b"up\n"
            vm.send_signal(number)
            assert vm.wait(60) in (143, -number)
            cells.wait_until("the machine has ended", lambda: not machines(folder), 60)


@pytest.mark.parametrize("arguments, words", [
    ((), "no command"), (("--mem", "much", "--", "true"), "--mem wants a size"), (("--copy", "/none", "--", "true"), "is not a directory"),
    (("--timeout", "0", "--", "true"), "wants a number"), (("--strange", "--", "true"), "unknown option"),
])
def test_wrong_use_is_said(arguments, words):
    done = subprocess.run([VM, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 125 and words in done.stderr
