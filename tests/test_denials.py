"""What the manifest says was refused: by whom, how often, and who vouches for it."""
import json

import cells
import pytest

# Speaks to the launcher over the interpreter's own channel, as a hostile program would.
CHANNEL = """
import json, os, struct

def frame(kind, body=b"", last=1):
    os.write(3, struct.pack("=BBHI", kind, last, 0, len(body)) + body)

def denial(**changes):
    entry = dict(layer="audit", rule="files", what="/etc/shadow", line=3, count=1, hint=None)
    frame(7, json.dumps(entry | changes).encode())
"""


def run(code, *options, **more):
    """Without the guard: what is left is the kernel, and what the program says."""
    return cells.run(CHANNEL + code, "--guard=off", *options, **more)


def denials(result, layer):
    return [entry for entry in result.manifest["denials"] if entry["layer"] == layer]


# ---- what the guest's process tells ----

def test_nothing_refused_is_an_empty_list(base_tree):
    assert cells.run("import json; print(json.dumps(1))").manifest["denials"] == []


def test_told_denials_are_listed_as_the_guests_word(base_tree):
    """S1.31: what only the program's process says is not attested."""
    result = run("""
denial()
denial(count=5)
denial(line=None, layer="runtime", rule="imports", what="socket", hint="no network")
""")
    assert result.manifest["status"] == "ok", result
    assert result.manifest["denials"] == [
        {"layer": "audit", "rule": "files", "what": "/etc/shadow", "line": 3, "count": 5, "hint": None, "attested": False},
        {"layer": "runtime", "rule": "imports", "what": "socket", "line": None, "count": 1, "hint": "no network",
         "attested": False},
    ]


def test_told_denials_survive_a_kill(base_tree):
    result = run("denial(); os.kill(os.getpid(), 9)")
    assert result.manifest["status"] == "killed" and denials(result, "audit"), result


@pytest.mark.parametrize("call", [
    "denial(layer='seccomp')", "denial(layer='ast')", "denial(count=0)", "denial(line=-1)", "denial(rule='')",
    "denial(attested=True)", "denial(what=['x'])", "denial(hint='x' * 5000)", "frame(7)", "frame(7, b'[]')", "frame(7, b'\\xff')",
])
def test_a_wrong_denial_spoils_the_guests_own_report_only(base_tree, call):
    result = run(f"denial()\n{call}\nprint('went on', flush=True)\n5")
    assert result.stdout == "went on\n"
    assert len(result.manifest["denials"]) == 1, result.manifest["denials"]
    assert result.manifest["guest"] is None and "broke the protocol" in result.manifest["warnings"][0]


def test_a_flood_of_told_denials_is_bounded(base_tree):
    result = run("for i in range(9000): denial(line=i + 1)")
    assert result.manifest["status"] == "ok", result
    assert len(result.manifest["denials"]) == 64
    assert any("more was refused than is listed" in warning for warning in result.manifest["warnings"])
    endless = run("while True: denial()")
    assert "more than 10000 packets" in " ".join(endless.manifest["warnings"]), endless


def test_a_text_of_any_kind_stays_readable(base_tree):
    result = run(r"""denial(what="\x1b[2J" + "\xe9" * 300, rule="\u202e" * 64)""")
    told, = json.loads((result.output / "manifest.json").read_text())["denials"]
    assert told["what"].startswith("\x1b[2J") and len(told["what"].encode()) <= 260
