"""The account of a job: complete, of one shape whatever happened, and not to be changed unnoticed."""

import datetime
import json
import os
import re
import shutil
import signal
import stat
from pathlib import Path

import cells
import jsonschema
import pytest

SCHEMA = cells.generated("manifest.schema.json")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXIT = {"ok": 0, "error": 1, "rejected": 2, "timeout": 3, "cpu": 3, "memory": 3, "pids": 3, "output": 3, "killed": 3}

# status: (program, options)
WAYS_TO_END = {
    "ok": (cells.FIGURE + "draw_figure('figures/a.svg', b'<svg/>')\nopen('a\\n\\udcff', 'w')\n"
           "open('manifest.json', 'w')\nprint('x')\n{'a': 1}", ["--label", "é=ü", "--tenant", "t", "--persist-code"]),
    "error": ("open('a', 'w').write('b')\nraise ValueError('\\x1b é \\ud800')", []),
    "rejected": ("x = = 1", []),
    "timeout": ("print('before', flush=True)\nwhile True: pass", ["--timeout", "300ms"]),
    "cpu": ("while True: pass", ["--cpu", "200ms", "--timeout", "20s"]),
    "memory": ("b = []\nwhile True: b.append(bytearray(b'x') * (1 << 20))", ["--memory", "96M"]),
    "output": ("while True: print('x' * 1000)", ["--overflow", "end", "--stdout-size", "4K"]),
}


@pytest.fixture(scope="module", params=WAYS_TO_END)
def ended(request, base_tree):
    """A job for each way to end."""
    program, options = WAYS_TO_END[request.param]
    return request.param, cells.run(program, *options)


def check(manifest):
    errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in VALIDATOR.iter_errors(manifest)]
    assert not errors, errors


def test_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_manifest_has_its_shape(ended):
    wanted, result = ended
    status = result.manifest["status"]
    if wanted == "memory" and not result.enforced_by_cgroup:
        assert status in ("memory", "error")  # without cgroups a program may get a MemoryError first
    else:
        assert status == wanted, result
    assert result.status == result.manifest["exit_code"] == EXIT[status]
    check(result.manifest)


def test_manifest_is_for_its_owner(ended):
    _, result = ended
    mode = (result.output / "manifest.json").stat()
    assert stat.S_IMODE(mode.st_mode) == 0o600 and mode.st_uid == os.geteuid()


def test_reason_and_line(ended):
    wanted, result = ended
    manifest = result.manifest
    assert (manifest["reason"] is None) == (manifest["status"] == "ok")
    if wanted in ("timeout", "cpu", "output"):
        assert result.stderr.splitlines()[-1] == f"hotcell: {wanted}: {manifest['reason']}"
        assert f"limits.{ {'output': 'stdout'}.get(wanted, wanted)}" in manifest["reason"]


def test_manifest_agrees_with_what_was_seen(ended):
    wanted, result = ended
    m = result.manifest
    assert m["stdout"]["text"] == result.stdout
    lines = [line for line in result.stderr.splitlines(True) if not line.startswith("hotcell: ")]
    assert m["stderr"]["text"] == "".join(lines)
    assert m["stdout"]["bytes"] >= len(result.stdout.encode()) and m["stdout"]["redactions"] == 0
    assert m["stdout"]["truncated"] == (wanted == "output")
    assert (m["rejection"] is not None) == (wanted == "rejected")
    assert m["policy"]["name"] == "default" and re.fullmatch("[0-9a-f]{64}", m["policy"]["sha256"])
    assert m["tree"]["sha256"] == Path(cells.tree_path("base")).name
    assert m["signature"] is None and m["denials"] == []


def test_times_and_usage_are_in_order(ended):
    m = ended[1].manifest
    started, finished = [datetime.datetime.fromisoformat(m[key].replace("Z", "+00:00"))
                         for key in ("started", "finished")]
    assert started <= finished <= datetime.datetime.now(datetime.timezone.utc)
    assert all(value >= 0 for value in [*m["usage"].values(), *m["timing"].values()]
               if value is not None and value is not m["usage"]["samples"])
    assert m["timing"]["queue"] == 0
    assert m["timing"]["run"] <= m["usage"]["wall"] <= (finished - started).total_seconds() + 0.002
    if m["status"] not in ("rejected",):
        assert m["usage"]["memory_peak"] > 0 and m["usage"]["cpu_user"] + m["usage"]["cpu_system"] > 0


def test_limits_are_all_there(ended):
    limits = ended[1].manifest["limits"]
    shown = json.loads(cells.hotcell("policy", "show", "default").stdout)["limits"]
    assert limits.keys() - {"enforced_by"} == shown.keys()
    assert limits["enforced_by"].keys() == {"memory", "memory_soft", "pids", "cpu", "cpus", "cpu_weight", "io", "output"}


def test_layers_all_have_evidence(ended):
    layers = ended[1].manifest["layers"]
    page = cells.generated("man/hotcell-manifest.5")
    named = page[page.index(".It Sy user_namespace"):page.index(".Ss What the program says")]
    documented = set(re.findall(r"^\.It Sy ([a-z_]+)$", named, re.M)) - {"core_scheduling"}  # which is asked for
    assert layers.keys() == documented
    for name, layer in layers.items():
        assert layer["evidence"], name
        assert layer["on"] or name in ("landlock", "cgroup", "time_namespace"), (name, layer)


def test_ok_job_in_detail(base_tree):
    program, options = WAYS_TO_END["ok"]
    m = cells.run(program, *options).manifest
    assert m["labels"] == {"é": "ü"} and m["tenant"] == "t"
    assert m["process"] == {"exit": 0}
    assert m["figures"][0]["path"] == "figures/a.svg" and m["figures"][0]["mime"] == "image/svg+xml"
    assert m["skipped"]["entries"][0]["path"] == "manifest.json" and m["skipped"]["more"] == 0
    assert m["files"][0]["path"] == "a\\x0a\\xff" and m["files"][0]["escaped"] is True
    assert m["guest"]["value"]["application/json"] == {"a": 1} and m["guest"]["complete"] is True
    assert m["usage"]["output_files"] >= 2 and m["partial"] is False


DEEP = """import os, socket, struct
report = (b'{"value": {"application/json": ' + b"[" * 50 + b"0," * 100_000 + b"0" + b"]" * 50 +
          b'}, "error": null, "figures": [], "columns": {}, "warnings": [], "exit": 0, "complete": true}')
parts = [report[i:i + 32768] for i in range(0, len(report), 32768)]
for part in parts:
    os.write(3, struct.pack("<BBHI", 5, part is parts[-1], 0, len(part)) + part)
os._exit(0)
"""


def test_blanks_of_deep_values_are_not_beyond_the_limit(base_tree):
    """A REPORT that the program has forged has values 50 deep, which two blanks per level would make fifty times as long."""
    result = cells.run(DEEP, "--value-size", "256K", "--guard", "off")
    value = result.manifest["guest"]["value"]["application/json"]
    assert len(json.dumps(value, indent=2)) > 9 << 20
    assert (result.output / "manifest.json").stat().st_size < 300 << 10
    assert '    "value": {"application/json":[[[' in (result.output / "manifest.json").read_text()
    check(result.manifest)


def test_killed_job(base_tree):
    with cells.start("print('up', flush=True)\nwhile True: pass") as job:
        assert job.read_line() == "up"
        job.signal(signal.SIGTERM)
        result = job.finish()
    assert result.status == -signal.SIGTERM
    assert result.manifest["status"] == "killed" and result.manifest["exit_code"] == 3
    check(result.manifest)


def test_launch_that_failed(base_tree):
    result = cells.run("1", "--input", "data=/nowhere.csv")
    assert result.status == 65 and result.manifest["status"] == "launch_failed"
    check(result.manifest)


def test_json_on_standard_output_is_the_same(base_tree):
    result = cells.run("print('kept')\nimport sys\nprint('too', file=sys.stderr)\n1 / 0", "--json")
    assert json.loads((result.output / "manifest.json").read_text()) == result.manifest
    assert result.manifest["stdout"]["text"] == "kept\n" and result.stderr == ""
    assert result.status == 1
    check(result.manifest)


def test_output_that_is_not_utf_8(base_tree):
    result = cells.run("import sys\nsys.stdout.buffer.write(b'\\xffa\\x00\\xed\\xa0\\x80\\xe2\\x82')", "--json")
    assert result.manifest["stdout"]["bytes"] == 8
    text = result.manifest["stdout"]["text"]
    assert text.startswith("\ufffda\ufffd\ufffd") and set(text) == {"\ufffd", "a"}


def test_policies_of_equal_effect_have_one_hash(base_tree):
    first = cells.run("1", policy={}).manifest["policy"]["sha256"]
    again = cells.run("1", policy={"limits": {"pids": 64}}).manifest["policy"]["sha256"]
    other = cells.run("1", policy={"limits": {"pids": 65}}).manifest["policy"]["sha256"]
    assert first != other
    assert again != other


# ---- verifying ----

@pytest.fixture
def signed(base_tree):
    """A signed job with two files and a figure, which a test may spoil."""
    here = cells.new_directory(cells.caller())
    (here / "key").write_bytes(os.urandom(32))
    (here / "key").chmod(0o600)
    result = cells.run(cells.FIGURE + """
import os
os.makedirs("deep/er")
draw_figure("figures/a.svg", b"<svg/>")
open("deep/er/data.bin", "wb").write(bytes(range(256)) * 1000)
open("odd\\n\\udcff\\\\name", "w").write("odd")
0.1 + 0.2, 1e22, 2.0
""", "--sign", here / "key", "--label", "é=\u2028\"\\", cwd=here)
    assert result.status == 0, result
    return result


def verify(result, *arguments, key="key"):
    sign = ["--sign", key] if key else []
    return cells.hotcell("verify", *sign, *arguments, result.output / "manifest.json", cwd=result.directory
                         if hasattr(result, "directory") else result.output.parent)


def rewrite(result, change=None, **dump):
    path = result.output / "manifest.json"
    manifest = json.loads(path.read_text())
    if change:
        change(manifest)
    path.write_text(json.dumps(manifest, **dump))


def assert_fails(done, *phrases, status=1):
    assert done.returncode == status, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert all(line.startswith("hotcell") for line in done.stderr.splitlines()) and done.stderr
    for phrase in phrases:
        assert phrase in done.stderr


def test_genuine_manifest(signed):
    done = verify(signed)
    assert done.returncode == 0, done.stderr
    assert "signature valid" in done.stdout and "3 files" in done.stdout and done.stderr == ""
    done = verify(signed, key=None)
    assert done.returncode == 0 and "signature not checked" in done.stdout
    check(signed.manifest)


def test_output_directory_can_move(signed):
    moved = signed.output.with_name("moved")
    shutil.copytree(signed.output, moved)
    shutil.rmtree(signed.output)
    done = cells.hotcell("verify", "--sign", "key", "moved/manifest.json", cwd=moved.parent)
    assert done.returncode == 0, done.stderr
    done = cells.hotcell("verify", "--sign", "../key", "manifest.json", cwd=moved)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dump", [{"sort_keys": True, "indent": 7}, {"separators": (",", ":"), "ensure_ascii": False},
                                  {"ensure_ascii": True, "indent": "\t"}])
def test_manifest_written_anew_by_another_tool(signed, dump):
    def reverse(manifest):
        for key in reversed(list(manifest)):
            manifest[key] = manifest.pop(key)
    rewrite(signed, reverse, **dump)
    assert verify(signed).returncode == 0


@pytest.mark.parametrize("change", [
    lambda m: m.update(status="error"), lambda m: m.update(tenant="other"), lambda m: m["labels"].clear(),
    lambda m: m["usage"].update(wall=m["usage"]["wall"] + 0.001), lambda m: m.update(extra=1), lambda m: m.pop("warnings"),
    lambda m: m["stdout"].update(text="x"), lambda m: m["layers"]["mount_namespace"].update(on=False),
    lambda m: m["guest"].update(complete=1), lambda m: m["files"].pop(), lambda m: m["files"].reverse(),
    lambda m: m["signature"].update(value="0" * 64), lambda m: m["signature"].update(value=m["signature"]["value"][:-2]),
    lambda m: m["signature"].update(algorithm="none"), lambda m: m["signature"].update(value=None),
    lambda m: m.update(signature=None), lambda m: m.pop("signature"), lambda m: m.update(signature=[]),
], ids=range(18))
def test_manifest_that_was_changed(signed, change):
    rewrite(signed, change)
    done = verify(signed)
    assert_fails(done)
    assert re.search("signature|not signed|not a manifest", done.stderr)


def test_wrong_key(signed):
    other = signed.output.parent / "other"
    other.write_bytes(b"x" * 32)
    other.chmod(0o600)
    assert_fails(verify(signed, key="other"), "signature")


def test_unsigned_manifest(base_tree, signed):
    result = cells.run("open('a', 'w').write('x')", cwd=signed.output.parent)
    assert_fails(verify(result), "not signed")
    assert verify(result, key=None).returncode == 0


def test_artifacts_that_were_changed(signed):
    out = signed.output
    (out / "deep/er/data.bin").write_bytes(bytes(range(256)) * 999 + b"y" * 256)
    assert_fails(verify(signed), "deep/er/data.bin: the content has changed")
    (out / "figures/a.svg").unlink()
    done = verify(signed)
    assert_fails(done, "deep/er/data.bin", "figures/a.svg: No such file")
    assert len(done.stderr.splitlines()) == 2
    (out / "extra").write_text("not listed: not ours")
    (out / "figures/a.svg").write_text("<svg/>")
    (out / "deep/er/data.bin").write_bytes(bytes(range(256)) * 1000)
    assert verify(signed).returncode == 0


def test_artifact_that_became_a_link_or_a_pipe(signed):
    figure = signed.output / "figures/a.svg"
    aside = signed.output / "aside.svg"
    figure.rename(aside)
    figure.symlink_to("../aside.svg")
    assert_fails(verify(signed), "figures/a.svg")
    figure.unlink()
    os.mkfifo(figure)
    assert_fails(verify(signed), "figures/a.svg")
    figure.unlink()
    figure.mkdir()
    assert_fails(verify(signed), "figures/a.svg")


@pytest.mark.parametrize("path", ["../secret", "{here}/secret", "deep/../../secret", "", ".", "link/secret"])
def test_names_that_lead_elsewhere_are_not_read(signed, path):
    import hashlib
    here = signed.output.parent
    (here / "secret").write_text("secret")
    (signed.output / "link").symlink_to(here)
    digest = hashlib.sha256(b"secret").hexdigest()
    rewrite(signed, lambda m: m.update(files=[{"path": path.format(here=here), "bytes": 6, "sha256": digest}]))
    assert_fails(verify(signed, key=None))


@pytest.mark.parametrize("text", ["", "x", "null", "[]", "{}", '{"version": 1}', '{"status": "ok"}',
                                  '{"version": 1, "status": "ok"', '{"version": 1, "version": 1, "status": "ok"}', "[" * 100000, "\0", "\ufeff{}"])
def test_files_that_are_no_manifest_are_refused(signed, text):
    (signed.output / "manifest.json").write_text(text)
    done = verify(signed)
    assert_fails(done, status=65)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("change", [
    lambda m: m.update(files={}), lambda m: m.update(files=[1, None, {}]),
    lambda m: m.update(files=[{"path": 1, "sha256": 2}]),
    lambda m: m.update(figures="x"), lambda m: m.pop("files"),
    lambda m: m["files"][0].update(sha256=""), lambda m: m["files"][0].update(sha256=m["files"][0]["sha256"] + "0"),
], ids=range(7))
def test_manifest_of_another_shape_is_not_all_as_recorded(signed, change):
    """Without a key too: what cannot be checked must not count as checked."""
    rewrite(signed, change)
    done = verify(signed, key=None)
    assert done.returncode in (1, 65), (done.stdout, done.stderr)


def test_missing_manifest(signed):
    assert_fails(cells.hotcell("verify", "nowhere.json"), "nowhere.json", "No such file", status=65)
    assert_fails(cells.hotcell("verify", str(signed.output)), status=65)


# ---- what was used from moment to moment ----

GROWS = """
import time
kept = [b'x' * (1 << 20) for _ in range(60)]
end = time.monotonic() + 1.5
while time.monotonic() < end:
    sum(range(1000))
"""


def test_samples_say_what_was_used_when(base_tree):
    result = cells.run(GROWS, "--memory", "200M", "--timeout", f"{20 * cells.SLOWNESS:g}s")
    assert result.manifest["status"] == "ok", result
    check(result.manifest)
    usage = result.manifest["usage"]
    samples = usage["samples"]
    assert 2 <= len(samples) <= 120
    times, cpu = [s["t"] for s in samples], [s["cpu"] for s in samples]
    assert times == sorted(times) and 0.05 < times[0] and times[-1] <= usage["wall"]
    assert cpu == sorted(cpu) and cpu[-1] > 0
    assert 60 << 20 < max(s["memory"] for s in samples) <= usage["memory_peak"]  # the last may be of a process that is going
    assert max(s["pids"] for s in samples) >= 1


# What turns the direction of writing, and what nobody sees: to a terminal both say something else than they show.
UNSEEN = "\u202egnp.exe\u2066\u200b\x9b31m\U000e0041"


def shown_to_people(text):
    return not set(text) & set("\u202e\u2066\u200b\x9b\U000e0041\x1b")


def test_warnings_say_nothing_in_the_guests_words(base_tree, tmp_path):
    """A report that is none: where it is wrong, and not what stands there."""
    report = json.dumps({f"Verified by hotcell{UNSEEN}": 1})
    code = f"import os, struct; body = {report!r}.encode(); os.write(3, struct.pack('<BBHI', 5, 1, 0, len(body)) + body)"
    result = cells.run(code)
    warnings = " ".join(result.manifest["warnings"])
    assert "a report that cannot be used" in warnings and "Verified" not in warnings, result
    assert warnings.isascii() and warnings.isprintable()


def test_names_that_the_guest_chose_drive_no_terminal(base_tree, tmp_path):
    """Of verify, replay and what prints JSON; names in the manifest are what they are all the same."""
    program = tmp_path / "p.py"
    program.write_text(f"import sys; open('/output/' + {UNSEEN!r}, 'w').write('x'); print(len(sys.argv))")
    options = ["-t", cells.tree_path("base"), "-o", "out", "--persist-code"]
    done = cells.hotcell("run", "--json", *options, str(program), cwd=tmp_path)
    assert done.returncode == 0 and shown_to_people(done.stdout), done
    assert UNSEEN in [file["path"] for file in json.loads(done.stdout)["files"]]
    [manifest] = tmp_path.glob("out/**/manifest.json")
    assert shown_to_people(manifest.read_text())
    (manifest.parent / UNSEEN).write_text("y")
    done = cells.hotcell("verify", str(manifest), cwd=tmp_path)
    assert done.returncode == 1 and "the content has changed" in done.stderr, done
    assert shown_to_people(done.stdout + done.stderr), done
    (manifest.parent / UNSEEN).unlink()
    done = cells.hotcell("verify", str(manifest), cwd=tmp_path)
    assert done.returncode == 1 and shown_to_people(done.stdout + done.stderr), done
