"""Parts of files that jobs left (Range), and files that a client has already (ETag)."""

import daemons
import pytest


@pytest.fixture(name="file", scope="module")
def module_file(base_tree):
    """A daemon, and the path of a file of ten bytes in it, and of an empty one."""
    with daemons.Daemon(config={"workers": 1}) as d:
        job = d.post({"code": "open('/output/f', 'w').write('0123456789')\nopen('/output/empty', 'w').close()"}).json["job_id"]
        yield d, f"/v1/jobs/{job}/files/f", f"/v1/jobs/{job}/files/empty"
        assert d.end() == 0, d.log


@pytest.mark.parametrize("header, status, body, place", [
    ("bytes=2-4", 206, b"234", "bytes 2-4/10"), ("bytes=8-", 206, b"89", "bytes 8-9/10"), ("bytes=-3", 206, b"789", "bytes 7-9/10"),
    ("bytes=0-99", 206, b"0123456789", "bytes 0-9/10"), ("bytes=0-1,4-5", 200, b"0123456789", None), ("lines=1-2", 200, b"0123456789", None)])
def test_a_part_of_a_file(file, header, status, body, place):
    daemon, path, _ = file
    answer = daemon.get(path, headers={"Range": header})
    assert (answer.status, answer.body, answer.headers.get("Content-Range")) == (status, body, place)
    assert answer.headers["Content-Length"] == str(len(body)) and answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Content-Disposition"] == "attachment"


def test_a_part_that_there_is_not(file):
    daemon, path, empty = file
    for place, header, size in (path, "bytes=10-", 10), (path, "bytes=-0", 10), (empty, "bytes=0-", 0):
        answer = daemon.get(place, headers={"Range": header})
        assert (answer.status, answer.json["detail"]) == (416, f"the file has {size} bytes")
    assert (daemon.get(empty).status, daemon.get(empty).body) == (200, b"")


def test_a_file_that_the_client_has(file):
    daemon, path, _ = file
    tag = daemon.get(path).headers["ETag"]
    again = daemon.get(path, headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
    assert daemon.get(path, headers={"If-None-Match": '"other"'}).status == 200
    assert daemon.get(path, headers={"Range": "bytes=2-4", "If-Range": tag}).body == b"234"
    assert daemon.get(path, headers={"Range": "bytes=2-4", "If-Range": '"other"'}).body == b"0123456789"
