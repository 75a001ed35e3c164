"""Figures are told of as they are made, and nothing that a program says of them is believed."""

import json
import os
import sys
from pathlib import Path

import cells
import daemons
import session_client
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "python"))
import hotcell  # noqa: E402  pylint: disable=wrong-import-position

MEMORY = "512M"
FRAMES = """
import hashlib, json, os, struct
def tell(path, kind=14):
    content = open(path, "rb").read() if os.path.isfile(path) else b""
    said = {"path": path if isinstance(path, str) else "", "sha256": hashlib.sha256(content).hexdigest()}
    body = path if isinstance(path, bytes) else json.dumps(said).encode()
    os.write(3, struct.pack("<BBHI", kind, 1, 0, len(body)) + body)
os.mkdir("figures")
"""
WAIT = "\nimport time\nwhile True: time.sleep(0.05)\n"


def own_policies(user):
    directory = cells.new_directory(user)
    (directory / "forking.json").write_text(json.dumps(cells.watched_policy({"extends": "none", "processes": "fork"}, user)))
    return {"HOTCELL_POLICIES": str(directory)}


@pytest.fixture(name="drawing", scope="module")
def module_drawing():
    """A daemon whose jobs can draw."""
    if cells.hotcell("tree", "path", "scientific").returncode != 0:
        cells.skip("the tree scientific is not built: run 'hotcell tree build scientific'")
    with daemons.Daemon(config={"workers": 1}, base=False, env=own_policies(cells.caller())) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="plain", scope="module")
def module_plain(daemons_user):
    """With the tree base: programs write what a harness would, and more."""
    with daemons.Daemon(daemons_user, config={"workers": 1}, env=own_policies(daemons_user)) as d:
        yield d
        assert d.end() == 0, d.log


def spec(code, **more):
    return {"code": code, "tree": "scientific", "limits": {"memory": MEMORY, "timeout": 60 * cells.SLOWNESS}, **more}


def figures(lines):
    """As they were told while the program ran."""
    return [line["figure"] for line in lines if line["event"] == "figure" and "sha256" not in line["figure"]]


def collected(lines):
    return [line["figure"] for line in lines if line["event"] == "figure" and "sha256" in line["figure"]]


def told_of(plain, code, **more):
    """Of a program that need not be an honest one: its manifest, and the figures that were told of while it ran."""
    answer = plain.post({"policy": "none", **more, "code": FRAMES + code}, {"Accept": "application/x-ndjson"})
    assert answer.status == 200, answer
    return answer.lines[-2]["manifest"], figures(answer.lines)


def follow(daemon, path, method="GET", body=None):
    """The connection, and the lines one by one as they come."""
    connection = daemon.connect()
    connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json", "Accept": "application/x-ndjson"})
    response = connection.getresponse()
    assert response.status == 200, response.read()
    return connection, map(json.loads, iter(response.readline, b""))


# ---- of honest programs ----

def test_a_figure_is_told_of_and_handed_out_while_the_program_goes_on(drawing):
    job_id = drawing.post_async(spec("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()" + WAIT))
    connection, lines = follow(drawing, f"/v1/jobs/{job_id}/events")
    figure = next(line["figure"] for line in lines if line["event"] == "figure")
    assert drawing.get(f"/v1/jobs/{job_id}").json["state"] == "running"
    assert set(figure) == {"path", "mime", "bytes"} and figure["mime"] == "image/png"
    found = drawing.get(f"/v1/jobs/{job_id}/files/{figure['path']}")
    assert found.status == 200 and found.body.startswith(b"\x89PNG") and len(found.body) == figure["bytes"]
    for other in ("figures/other.png", "figures", "../" + job_id, "manifest.json"):
        assert drawing.get(f"/v1/jobs/{job_id}/files/{other}").status == 404
    assert drawing.request("DELETE", f"/v1/jobs/{job_id}").status == 202
    rest = list(lines)
    assert [each["path"] for each in collected(rest)] == [figure["path"]], "it outlives the program"
    connection.close()
    after = drawing.get(f"/v1/jobs/{job_id}/files/{figure['path']}")
    assert after.body == found.body


def test_the_python_client_sees_figures_as_they_are_made(drawing):
    job = hotcell.Daemon(drawing.socket).submit("import plotly.graph_objects as go\ngo.Figure().show()" + WAIT, tree="scientific",
                                                memory=MEMORY, timeout=60 * cells.SLOWNESS)
    for event in job.events():
        if event["event"] == "figure" and "sha256" not in event["figure"]:
            assert json.loads(job.file(event["figure"]["path"]))["data"] == []
            job.cancel()
    assert event == {"event": "state", "state": "done"}
    assert job.result().figures and job.result().status == "killed"


@pytest.mark.parametrize("code, told", [
    ("plt.plot([1]); plt.savefig('figures/a.svg'); plt.gcf().savefig('/output/figures/b.pdf'); plt.close()",
     ["application/pdf", "image/svg+xml"]),
    ("import pathlib; plt.plot([1]); plt.savefig(pathlib.Path('figures') / 'a.png'); plt.savefig('figures/b.png'); plt.close()",
     ["image/png", "image/png"]),
    ("plt.plot([1])", ["image/png"]),  # at the end, by the harness
    ("plt.plot([1]); plt.savefig('other.png'); plt.savefig('/tmp/a.png'); plt.savefig(__import__('io').BytesIO()); plt.close()", []),
    ("plt.plot([1]); plt.show(); plt.title('again')", ["image/png", "image/png"]),
    ("import plotly.graph_objects as go\nf = go.Figure(); f.show(); f.show()", ["application/vnd.plotly.v1+json"] * 2),
])
def test_each_figure_is_told_of_when_it_is_complete(drawing, code, told):
    answer = drawing.post(spec("import matplotlib.pyplot as plt\n" + code), {"Accept": "application/x-ndjson"})
    early = figures(answer.lines)
    assert sorted(figure["mime"] for figure in early) == told, answer
    manifest = answer.lines[-2]["manifest"]
    assert manifest["status"] == "ok" and {figure["path"] for figure in early} == {entry["path"] for entry in manifest["figures"]}
    assert [{key: figure[key] for key in ("path", "sha256")} for figure in collected(answer.lines)] == \
        [{key: entry[key] for key in ("path", "sha256")} for entry in manifest["figures"]]


def test_what_a_program_forks_tells_of_no_figure(drawing):
    code = """
import os
import matplotlib.pyplot as plt
plt.plot([1])
if os.fork() == 0:
    plt.savefig("figures/of_the_child.png")
    os._exit(0)
print(os.wait()[1])
plt.close()
"""
    answer = drawing.post(spec(code, policy="forking"), {"Accept": "application/x-ndjson"})
    manifest = answer.lines[-2]["manifest"]
    assert (manifest["status"], manifest["stdout"]["text"]) == ("ok", "0\n"), answer
    assert figures(answer.lines) == [] and collected(answer.lines) == []
    assert [each["path"] for each in manifest["files"]] == ["figures/of_the_child.png"]


def test_runs_of_sessions_tell_of_their_figures(drawing):
    session = drawing.session({"tree": "scientific", "limits": {"memory": MEMORY, "timeout": 60 * cells.SLOWNESS}})
    for _ in range(2):
        connection, lines = follow(drawing, f"{session}/runs", "POST",
                                   {"code": "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\nprint('shown')"})
        lines = list(lines)
        connection.close()
        [figure] = figures(lines)
        assert lines[-1]["event"] == "result"
        assert [entry["path"] for entry in lines[-1]["manifest"]["figures"]] == [figure["path"]]
    assert drawing.request("DELETE", session).status == 200


# ---- of others ----

REAL = "open('figures/a.png', 'wb').write(b'x' * 100)\n"


@pytest.mark.parametrize("code", [
    "tell('figures/nothing.png')",
    "os.mkdir('figures/a.png'); tell('figures/a.png')",
    REAL + "os.link('figures/a.png', 'b'); tell('figures/a.png')",
    "open('figures/a.txt', 'w').write('x'); tell('figures/a.txt')",
    "os.mkdir('other'); open('other/a.png', 'w').write('x'); tell('other/a.png')",
    "open('figures/a.png', 'w').close(); tell('figures/a.png')",
    "f = open('figures/a.png', 'w'); f.truncate(2 << 20); f.close(); tell('figures/a.png')",
    REAL + "if os.fork() == 0:\n    for body in ('figures/a.png', b'nonsense'): tell(body)\n    os._exit(0)\nos.wait()",
])
def test_what_is_no_figure_is_not_told_of(plain, code):
    manifest, told = told_of(plain, code, limits={"figure": "1M"}, policy="forking")
    assert manifest["status"] == "ok" and told == [], manifest


@pytest.mark.parametrize("body", [
    b"", b"{}", b"figures/a.png", b'{"path": 1, HASH}', b'{"path": "figures/a.png", HASH, "bytes": 1}', b'{"path": "../figures/a.png", HASH}',
    b'{"path": "/output/figures/a.png", HASH}', b'{"path": "figures/../a.png", HASH}', b'{"path": "figures/.a.png", HASH}',
    b'{"path": "figures/a\\n.png", HASH}', b'{"path": "figures/\\u0000a.png", HASH}', b'{"path": "figures/' + b"a" * 400 + b'.png", HASH}',
    b'{"path": "figures/\xff.png", HASH}', b'{"path": "figures/a.png"}', b'{"path": "figures/a.png", "sha256": "0"}',
    b'{"path": "figures/a.png", "sha256": 1}', b'{"path": "figures/a.png", "sha256": "' + b"G" * 64 + b'"}',
])
def test_words_that_no_harness_says_end_what_is_heard(plain, body):
    """As with all that comes over the channel: a program that spoils it has spoilt its own report."""
    body = body.replace(b"HASH", b'"sha256": "' + b"0" * 64 + b'"')
    manifest, told = told_of(plain, REAL + f"tell({body!r})\ntell('figures/a.png')")
    assert told == [] and manifest["status"] != "ok", manifest
    assert manifest["figures"] == [] and [entry["path"] for entry in manifest["files"]] == ["figures/a.png"]


def test_figures_are_told_of_four_times_at_most(plain):
    manifest, told = told_of(plain, REAL + "for _ in range(500): tell('figures/a.png')", limits={"figures": 2})
    assert manifest["status"] == "ok" and len(told) == 8 and set(map(str, told)) == {str(told[0])}
    assert told[0] == {"path": "figures/a.png", "mime": "image/png", "bytes": 100}
    manifest, told = told_of(plain, REAL + "tell('figures/a.png')", limits={"figures": 0})
    assert manifest["status"] == "ok" and told == []


def test_names_that_are_odd_stay_names(plain):
    name = "figures/\"é'<b>\\ \u202e.svg"
    _, told = told_of(plain, f"open({name!r}, 'w').write('x'); tell({name!r})")
    assert [figure["path"] for figure in told] == [name]


def test_of_large_figures_the_latest_are_kept(plain):
    """Of those that are told of while the job runs: none of more than 2 megabytes, and 8 of all."""
    code = FRAMES + """
for n in range(6):
    open(f"figures/{n}.png", "wb").write(bytes([65 + n]) * (2 << 20))
    tell(f"figures/{n}.png")
open("figures/large.png", "wb").write(b"x" * ((2 << 20) + 1)); tell("figures/large.png")
open("figures/0.png", "wb").write(b"new"); tell("figures/0.png")
open("figures/last.svg", "w").write("x"); tell("figures/last.svg")
""" + WAIT
    job_id = plain.post_async({"code": code, "policy": "none", "limits": {"timeout": 60 * cells.SLOWNESS, "output": "32M"}})
    connection, lines = follow(plain, f"/v1/jobs/{job_id}/events")
    paths = []
    while not paths or paths[-1] != "figures/last.svg":
        line = next(lines)
        paths += [line["figure"]["path"]] if line["event"] == "figure" else []
    kept = {path: plain.get(f"/v1/jobs/{job_id}/files/{path}") for path in set(paths)}
    found = {path: answer.body[:3] for path, answer in kept.items() if answer.status == 200}
    assert found == {"figures/3.png": b"DDD", "figures/4.png": b"EEE", "figures/5.png": b"FFF", "figures/0.png": b"new",
                     "figures/last.svg": b"x"}
    assert plain.request("DELETE", f"/v1/jobs/{job_id}").status == 202
    assert [line["event"] for line in lines][-2:] == ["manifest", "state"]
    connection.close()


def test_another_tenant_is_handed_none(plain):
    cells.need_root()
    job_id = plain.post_async({"code": FRAMES + REAL + "tell('figures/a.png')" + WAIT, "policy": "none",
                               "limits": {"timeout": 60 * cells.SLOWNESS}})
    connection, lines = follow(plain, f"/v1/jobs/{job_id}/events")
    next(line for line in lines if line["event"] == "figure")
    assert plain.get(f"/v1/jobs/{job_id}/files/figures/a.png").body == b"x" * 100
    os.chmod(plain.socket, 0o666)
    assert plain.get(f"/v1/jobs/{job_id}/files/figures/a.png", uid=61234).status in (403, 404)
    assert plain.request("DELETE", f"/v1/jobs/{job_id}").status == 202
    connection.close()


def test_links_and_pipes_are_not_told_of(base_tree):  # pylint: disable=unused-argument
    """A cell makes none; in an output directory that the host writes into, too, nothing but files is looked at."""
    with session_client.Session("--output-mode", "bind", policy="none") as session:
        session.ask({"stream": True})
        session.answer()
        session.ask({"run": {"code": FRAMES + "open('secret.png', 'w').write('x')"}})
        session.result()
        (session.output / "figures/link.png").symlink_to(session.output / "secret.png")
        os.mkfifo(session.output / "figures/pipe.png")
        os.link(session.output / "secret.png", session.output / "figures/hard.png")
        session.ask({"run": {"code": "for name in ('link', 'pipe', 'hard'): tell(f'figures/{name}.png')\nprint('told', flush=True)"}})
        said = ""
        while said != "told\n":
            answer = session.answer()
            assert answer["event"] == "stdout", answer
            said += answer["text"]
        assert session.result().status == "ok"


def test_sessions_of_the_command_line_tell_whoever_asks(base_tree):  # pylint: disable=unused-argument
    with session_client.Session(policy="none") as session:
        session.ask({"stream": True})
        session.answer()
        session.ask({"run": {"code": FRAMES + REAL + "tell('figures/a.png')"}})
        assert session.answer() == {"event": "figure", "figure": {"path": "figures/a.png", "mime": "image/png", "bytes": 100}}
        assert session.result().status == "ok"
        session.ask({"stream": False})
        session.answer()
        session.ask({"run": {"code": "tell('figures/a.png')"}})
        assert session.result().status == "ok"
