"""What hotcelld signs is what `hotcell verify` holds for genuine; only its workers ever have the key."""

import json
import os
import signal

import pytest

import cells
import daemons

KEY = b"a key that is in no other file " * 2


@pytest.fixture
def key(user):
    path = cells.new_directory(user) / "key"
    path.write_bytes(KEY)
    path.chmod(0o600)
    if cells.IS_ROOT:
        os.chown(path, user.uid, user.uid)
    return path


def is_genuine(body, key, directory):
    """Its files are elsewhere: only the signature is looked at."""
    path = directory / "received.json"
    path.write_bytes(body)
    checked = cells.hotcell("verify", str(path), "--sign", str(key))
    assert checked.returncode in (0, 1), checked
    return "sign" not in checked.stderr


def test_manifests_are_signed_with_the_key_of_the_configuration(user, key):
    with daemons.Daemon(user, config={"workers": 1, "sign": str(key)}) as d:
        answer = d.post({"code": "open('/output/kept.txt', 'w').write('x')"})
        failed = d.post({"code": "1 / 0"})
        job = d.post_async({"code": "print(1)"})
        d.events(job)
        fetched = json.dumps(d.get(f"/v1/jobs/{job}").json["manifest"]).encode()
        kept = d.state / "jobs" / answer.json["job_id"] / "manifest.json"
        checked = cells.hotcell("verify", str(kept), "--sign", str(key))
        assert checked.returncode == 0 and "signature valid, 1 file as recorded" in checked.stdout, checked
        assert all(is_genuine(body, key, d.directory) for body in (answer.body, failed.body, fetched))
        assert not is_genuine(failed.body.replace(b'"error"', b'"ok"', 1), key, d.directory)
    with daemons.Daemon(user, config={"workers": 1}) as d:
        assert not is_genuine(d.post("1").body, key, d.directory)


def test_the_front_has_nothing_of_the_key(user, key):
    """It speaks to the network, and was copied from the process that has looked at the key."""
    cells.need_root()
    with daemons.Daemon(user, config={"workers": 1, "sign": str(key)}) as d:
        d.post("1")
        having = [pid for pid in (d.pid, *d.children()) if holds(pid, KEY)]
        assert having == d.named("worker")


def holds(pid, text):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            places, flags = line.split()[:2]
            first, last = (int(place, 16) for place in places.split("-"))
            if "w" not in flags:
                continue
            memory.seek(first)
            try:
                if text in memory.read(last - first):
                    return True
            except OSError:
                continue
    return False


@pytest.mark.parametrize("mode, message", [(0o644, "others cannot read"), (None, "No such file")])
def test_a_key_that_is_none_is_refused(user, key, mode, message):
    key.unlink() if mode is None else key.chmod(mode)
    with pytest.raises(AssertionError, match=message):
        daemons.Daemon(user, config={"sign": str(key)})


def test_a_reload_keeps_the_key(user, key):
    with daemons.Daemon(user, config={"workers": 1, "sign": str(key)}) as d:
        (d.directory / "hotcelld.conf").write_text('{"workers": 1}')
        d.process.send_signal(signal.SIGHUP)
        d.wait_for_line("hotcelld: reloaded")
        assert is_genuine(d.post("1").body, key, d.directory)
