"""Uploads: content for inputs that comes in parts, on the disk of hotcelld and never whole in its memory."""

import hashlib
import json
import os
import socket
import sys
from pathlib import Path

import cells
import daemons
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(PACKAGE))
import hotcell  # noqa: E402

OCTETS = {"Content-Type": "application/octet-stream"}
BOUNDS = {"tree": "base", "timeout": 20 * cells.SLOWNESS, "memory": "512M"}
LENGTH = "import os\nopen('/input/d.bin', 'rb').seek(0)\nos.path.getsize(d)"


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):  # pylint: disable=unused-argument
    with daemons.Daemon(config={"workers": 1, "socket": {"mode": "0666"}, "quotas": {"stored_bytes": "200M"}}) as d:
        yield d
        assert d.end() == 0, d.log


@pytest.fixture(name="clean", autouse=True)
def nothing_is_left(daemon):
    yield
    for upload in daemon.get("/v1/uploads").json["uploads"]:
        daemon.request("DELETE", f"/v1/uploads/{upload['upload_id']}")
    cells.wait_until("an empty directory of uploads", lambda: not kept(daemon))  # cells may have ended just now


def kept(daemon):
    return sorted(os.listdir(daemon.state / "uploads"))


def begin(daemon):
    answer = daemon.request("POST", "/v1/uploads")
    assert answer.status == 201 and answer.json["state"] == "open", answer
    return answer.json["upload_id"]


def part(daemon, upload, offset, data, headers=OCTETS):
    return daemon.request("POST", f"/v1/uploads/{upload}/parts?offset={offset}", data, headers)


def finish(daemon, upload, data):
    return daemon.request("POST", f"/v1/uploads/{upload}/finish", json.dumps({"sha256": hashlib.sha256(data).hexdigest()}).encode())


def job(upload, code=LENGTH):
    return {"code": code, "tree": "base", "inputs": {"d": {"file": "d.bin", "upload": upload}}}


def test_problems_of_uploads_say_what_is_wrong(daemon):
    upload = begin(daemon)
    assert part(daemon, upload, 0, b"123").status == 200
    for offset in ("x", "-1", "1.5", ""):
        answer = daemon.request("POST", f"/v1/uploads/{upload}/parts?offset={offset}", b"4")
        assert answer.status == 400 and "expected ?offset=, the number of bytes" in answer.json["detail"], answer
    wrong = part(daemon, upload, 2, b"4").json
    assert wrong["title"] == "The part does not follow what the upload has" and "the offset 3" in wrong["detail"], wrong
    other = finish(daemon, upload, b"1234").json
    assert other["type"].endswith("content") and "the 3 bytes that have come have" in other["detail"], other
    assert finish(daemon, upload, b"123").status == 200


def test_parts_become_an_input(daemon):
    data = os.urandom(300_000)
    upload = begin(daemon)
    for at in range(0, len(data), 100_000):
        answer = part(daemon, upload, at, data[at:at + 100_000])
        assert answer.status == 200 and answer.json["bytes"] == at + 100_000, answer
    assert daemon.post(job(upload)).status == 422  # it is not finished
    assert finish(daemon, upload, data).json["state"] == "finished"
    listed = daemon.get("/v1/uploads").json["uploads"]
    assert [(u["upload_id"], u["bytes"], u["sha256"]) for u in listed] == [(upload, len(data), hashlib.sha256(data).hexdigest())]
    code = "import hashlib\nhashlib.sha256(open(d, 'rb').read()).hexdigest()"
    for _ in range(2):  # an upload may be used more than once
        manifest = daemon.post(job(upload, code)).json
        assert manifest["guest"]["value"]["application/json"] == hashlib.sha256(data).hexdigest(), manifest["reason"]
    assert manifest["inputs"][0]["sha256"] == hashlib.sha256(data).hexdigest()
    assert daemon.request("DELETE", f"/v1/uploads/{upload}").status == 204
    assert daemon.get(f"/v1/uploads/{upload}").status == 404 and daemon.post(job(upload)).status == 422


def test_wrong_parts_change_nothing(daemon):
    upload = begin(daemon)
    assert part(daemon, upload, 0, b"12345").status == 200
    assert part(daemon, upload, 4, b"x").status == 409 and part(daemon, upload, 6, b"x").status == 409
    assert part(daemon, upload, "x", b"x").status == 400 and part(daemon, upload, -1, b"x").status == 400
    assert daemon.request("POST", f"/v1/uploads/{upload}/parts", b"x", OCTETS).status == 400
    assert part(daemon, upload, 5, b"x", {"Content-Type": "application/json"}).status == 415
    assert part(daemon, "none", 0, b"x").status == 404
    assert "have" in finish(daemon, upload, b"other").json["detail"]
    assert part(daemon, upload, 5, b"6").json["bytes"] == 6  # it goes on
    assert finish(daemon, upload, b"123456").status == 200
    assert part(daemon, upload, 6, b"x").status == 409 and finish(daemon, upload, b"123456").status == 200
    assert daemon.request("POST", f"/v1/uploads/{upload}/finish", b'{"sha": "1"}').status == 400


def test_a_sender_that_breaks_off_can_go_on(daemon):
    upload = begin(daemon)
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(str(daemon.socket))
        wire.sendall(f"POST /v1/uploads/{upload}/parts?offset=0 HTTP/1.1\r\nHost: h\r\nContent-Type: application/octet-stream\r\n"
                     "Content-Length: 100000\r\n\r\n".encode() + b"x" * 50_000)
        while daemon.get(f"/v1/uploads/{upload}").json["bytes"] < 50_000:
            pass
        assert part(daemon, upload, 50_000, b"y").status == 409  # one part at a time
        assert daemon.request("DELETE", f"/v1/uploads/{upload}").status == 409
    while (answer := part(daemon, upload, 50_000, b"y" * 10)).status == 409:
        pass
    assert answer.json["bytes"] == 50_010 and finish(daemon, upload, b"x" * 50_000 + b"y" * 10).status == 200


def test_uploads_count_against_the_quota(daemon):
    upload = begin(daemon)
    for at in range(4):
        assert part(daemon, upload, at * (50 << 20), bytes(50 << 20)).status == (200 if at < 3 else 429) or at == 3
    full = part(daemon, upload, daemon.get(f"/v1/uploads/{upload}").json["bytes"], bytes(20 << 20))
    assert full.status == 429 and full.json["quota"] == "stored_bytes", full
    assert daemon.request("DELETE", f"/v1/uploads/{upload}").status == 204
    upload = begin(daemon)
    assert part(daemon, upload, 0, bytes(10 << 20)).status == 200
    more = [begin(daemon) for _ in range(63)]
    refused = daemon.request("POST", "/v1/uploads")
    assert len(more) == 63 and refused.status == 429 and refused.json["quota"] == "uploads"


@pytest.mark.parametrize("end", ["job", "session"])
def test_what_a_job_still_reads_counts_though_it_was_removed(daemon, end):
    """Or a tenant would fill the disk with uploads that nobody counts."""
    upload, size = begin(daemon), 49 << 20
    for at in range(3):
        assert part(daemon, upload, at * size, bytes(size)).status == 200
    assert finish(daemon, upload, bytes(3 * size)).status == 200
    if end == "job":
        path = "/v1/jobs/" + daemon.post_async({**job(upload, "import time; time.sleep(600)"), "limits": {"timeout": 60 * cells.SLOWNESS, "memory": "512M"}})
        cells.wait_until("a link of the worker", lambda: os.stat(daemon.state / "uploads" / kept(daemon)[0]).st_nlink == 2)
    else:
        path = daemon.session({"inputs": {"d": {"file": "d.bin", "upload": upload}}, "limits": {"memory": "512M"}})
    assert daemon.request("DELETE", f"/v1/uploads/{upload}").status == 204
    assert daemon.get(f"/v1/uploads/{upload}").status == 404 and daemon.get("/v1/uploads").json["uploads"] == []
    assert daemon.request("DELETE", f"/v1/uploads/{upload}").status == 404 and daemon.post(job(upload)).status == 422
    other = begin(daemon)
    assert part(daemon, other, 0, bytes(size)).status == 200
    refused = part(daemon, other, size, bytes(size))
    assert refused.status == 429 and refused.json["quota"] == "stored_bytes", refused
    assert daemon.request("DELETE", path).status in (200, 202, 204)  # it ends
    cells.wait_until("room", lambda: part(daemon, other, daemon.get(f"/v1/uploads/{other}").json["bytes"], bytes(size)).status == 200)


def test_the_parts_are_not_kept_in_memory(daemon):
    def peak():
        return max(int(line.split()[1]) for pid in daemon.descendants()
                   for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM") and "hotcelld" in daemons.name_of(pid))
    before = peak()
    upload = begin(daemon)
    assert part(daemon, upload, 0, bytes(60 << 20)).status == 200
    assert peak() - before < 16 << 10  # KiB


@pytest.mark.parametrize("awaited", [False, True])
def test_the_python_client_sends_85_mb_by_default(daemon, tmp_path, awaited):
    data = os.urandom(1 << 20) * 85
    (tmp_path / "big.bin").write_bytes(data)
    code, given = "import hashlib\nhashlib.sha256(open(d, 'rb').read()).hexdigest()", {"d": tmp_path / "big.bin"}
    if awaited:
        import asyncio
        result = asyncio.run(hotcell.AsyncDaemon(daemon.socket).run(code, inputs=given, **BOUNDS))
    else:
        result = hotcell.Daemon(daemon.socket).run(code, inputs=given, **BOUNDS)
    assert result.value == hashlib.sha256(data).hexdigest(), result
    cells.wait_until("the end of the job's upload", lambda: not kept(daemon))  # it counts for as long as the cell may read it
    client = hotcell.Daemon(daemon.socket)
    with client.session(inputs=given, **BOUNDS) as session:
        assert daemon.get("/v1/uploads").json["uploads"] == [] and session.run(code).value == hashlib.sha256(data).hexdigest()
    cells.wait_until("the end of the session's upload", lambda: not kept(daemon))
    jobs = [client.submit(code, inputs=given, key=f"same-{awaited}", **BOUNDS) for _ in range(2)]
    assert jobs[0].id == jobs[1].id and len(kept(daemon)) == 1
    assert jobs[0].result().value == hashlib.sha256(data).hexdigest()


def test_an_upload_is_its_tenants(daemon):
    if os.geteuid():
        cells.skip("only root can be another user")
    upload = begin(daemon)
    for answer in (daemon.get(f"/v1/uploads/{upload}", uid=61399), daemon.request("DELETE", f"/v1/uploads/{upload}", uid=61399),
                   daemon.request("POST", f"/v1/uploads/{upload}/parts?offset=0", b"x", OCTETS, uid=61399)):
        assert answer.status == 404, answer
    assert daemon.get("/v1/uploads", uid=61399).json["uploads"] == []


def test_uploads_end_with_age_and_live_longer_than_the_daemon(base_tree):  # pylint: disable=unused-argument
    with daemons.Daemon(config={"workers": 1, "uploads": {"time": "1h"}}) as daemon:
        upload, lost = begin(daemon), begin(daemon)
        assert part(daemon, upload, 0, b"123").status == 200 and part(daemon, lost, 0, b"1").status == 200
        assert finish(daemon, upload, b"123").status == 200
        daemon.end()
        daemon.start_again()
        assert [(u["upload_id"], u["state"], u["sha256"]) for u in daemon.get("/v1/uploads").json["uploads"]] == [(upload, "finished", None)]
        assert daemon.post(job(upload)).json["guest"]["value"]["application/json"] == 3
    with daemons.Daemon(config={"workers": 1, "uploads": {"time": "1s"}}) as daemon:
        upload = begin(daemon)
        while daemon.get(f"/v1/uploads/{upload}").status == 200:
            pass
        assert kept(daemon) == []


def test_a_daemon_of_an_ordinary_user_takes_them_too(base_tree):  # pylint: disable=unused-argument
    user = cells.ordinary()
    cells.need_cells(user)
    with daemons.Daemon(user, config={"workers": 1}) as daemon:
        upload = begin(daemon)
        assert part(daemon, upload, 0, b"1234").status == 200 and finish(daemon, upload, b"1234").status == 200
        assert daemon.post(job(upload)).json["guest"]["value"]["application/json"] == 4


def test_a_run_of_a_session_takes_none(daemon):
    upload = begin(daemon)
    assert finish(daemon, upload, b"").status == 200
    with hotcell.Daemon(daemon.socket).session(**BOUNDS) as session:
        answer = daemon.send(f"/v1/sessions/{session.id}/runs", {"code": "1", "inputs": {"d": {"upload": upload}}})
        assert answer.status == 422 and "as they begin" in answer.json["detail"]
