"""SandboxFusion's dialect: what its clients send to POST /run_code, and the verdicts that they get."""

import base64
import json
import select
import threading

import pytest

import cells
import daemons


def encoded(text):
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def daemon(daemons_user, shell_tree):
    del shell_tree
    counted = {} if cells.counts_memory(daemons_user) else {"limits": {"enforcement": "rlimits"}}
    folder = cells.new_directory(daemons_user)
    (folder / "judge.json").write_text(json.dumps({"extends": "default", "tree": "base", "limits": {"memory": "256M", "max": {"memory": "256M", "timeout": "60s"}}}))
    (folder / "judge-shell.json").write_text(json.dumps({"extends": "shell", **counted}))
    with daemons.Daemon(daemons_user, base=False, env={"HOTCELL_POLICIES": str(folder)},
                        config={"sandboxfusion": {"policy": "judge", "commands": "judge-shell"}}) as d:
        yield d


def ask(daemon, code, **more):
    body = {"compile_timeout": 10, "run_timeout": 10, "memory_limit_MB": -1, "code": code, "language": "python", "files": {}, "fetch_files": [], **more}
    answer = daemon.request("POST", "/run_code", json.dumps(body).encode(), {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    return answer.json


def test_a_program_gets_stdin_and_its_verdict(daemon):
    said = ask(daemon, "a, b = map(int, input().split())\nprint(a + b)", stdin="2 3\n")
    assert said["status"] == "Success" and said["compile_result"] is None and said["executor_pod_name"] is None, said
    run = said["run_result"]
    assert (run["status"], run["return_code"], run["stdout"], run["stderr"]) == ("Finished", 0, "5\n", ""), said
    assert 0 <= run["execution_time"] < 60


@pytest.mark.parametrize("code, more, expected, words", [
    ("import sys; sys.exit(3)", {}, ("Failed", "Finished", 3), ""),
    ("1 / 0", {}, ("Failed", "Finished", 1), "ZeroDivisionError"),
    ("def", {}, ("Failed", "Finished", 1), "SyntaxError"),
    ("while True: pass", {"run_timeout": 1}, ("Failed", "TimeLimitExceeded", None), "limits.timeout"),
    ("x = bytearray(1 << 29)\nx[::4096] = x[::4096]\nprint(len(x))", {}, ("Failed", "Finished", 1), "emory"),
    ("kill -9 $$", {"language": "bash"}, ("Failed", "Finished", 137), "SIGKILL"),
    ("import sys; print(sys.argv[1:])", {"args": ["a b", "c"]}, ("Success", "Finished", 0), ""),
])
def test_every_end_has_its_verdict(daemon, code, more, expected, words):
    said = ask(daemon, code, **more)
    run = said["run_result"]
    assert (said["status"], run["status"], run["return_code"]) == expected, said
    assert words in run["stderr"] + said["message"], said


def test_files_go_in_by_their_paths_and_come_back(daemon):
    said = ask(daemon, "import os\nprint(open('data/in.txt').read())\nos.makedirs('out')\nopen('out/a.bin', 'wb').write(bytes(range(3)))",
               files={"data/in.txt": encoded("given"), "empty": None}, fetch_files=["out/a.bin", "nothing", "../manifest.json", "/etc/passwd"])
    assert said["run_result"]["stdout"] == "given\n", said
    assert said["files"] == {"out/a.bin": base64.b64encode(bytes(range(3))).decode()}


@pytest.mark.parametrize("files", [{"a": "one", "a/b": "two"}, {"manifest.json": "x"}, {"figures/1.png": "x"}, {"large": "x" * (20 << 20)}])
def test_code_does_not_run_without_a_file_that_it_was_given(daemon, files):
    said = ask(daemon, "print(1)", files={path: encoded(text) for path, text in files.items()})
    assert said["status"] == "SandboxError" and said["run_result"] is None and f"'{list(files)[-1]}' cannot be a file there" in said["message"], said
    spec = {"policy": "judge", "code": "1", "inputs": {f"_{number}:raw": {"place": path, "text": text} for number, (path, text) in enumerate(files.items())}}
    done = daemon.post(spec)
    assert done.status == 422 and "cannot be a file there" in done.json["detail"], done


def test_languages_that_are_commands(daemon):
    said = ask(daemon, "echo $((6 * 7)) $1; exit 2", language="bash", args=["x"])
    assert (said["status"], said["run_result"]["return_code"], said["run_result"]["stdout"]) == ("Failed", 2, "42 x\n"), said
    for number, status in ((1, "Success"), (2, "Failed")):
        said = ask(daemon, f"from given import one\ndef test_one(): assert one == {number}", language="pytest", files={"given.py": encoded("one = 1")})
        assert said["status"] == status and f"1 {'passed' if number == 1 else 'failed'}" in said["run_result"]["stdout"], said
    refused = ask(daemon, "x", language="rust")
    assert refused["status"] == "SandboxError" and "python, bash, pytest" in refused["message"] and refused["run_result"] is None, refused


@pytest.mark.parametrize("body, words", [
    (b"{", "expected"), (b"[]", "expected an object"), (b"{}", "code: expected a string"), (b'{"code": 1}', "code: expected a string, got a number"),
    (b'{"code": "1", "files": {"../x": ""}}', "no part of which begins with a dot"), (b'{"code": "1", "files": {"/x": ""}}', "expected a relative path"),
    (b'{"code": "1", "files": {"x": 1}}', "files: expected base64"), (b'{"code": "1", "run_timeout": 0}', "above 0"),
    (b'{"code": "1", "args": [1]}', "args: expected strings"), (b'{"code": "1", "stdin": 5}', "stdin: expected a string, got a number"),
])
def test_what_is_no_request_is_refused(daemon, body, words):
    answer = daemon.request("POST", "/run_code", body, {"Content-Type": "application/json"})
    assert answer.status in (400, 422) and words in answer.json["detail"], answer


def test_a_dialect_can_have_nothing_that_a_job_cannot_have(daemon):
    said = ask(daemon, "1", memory_limit_MB=100000)
    assert said["status"] == "SandboxError" and "limits.memory" in said["message"], said
    said = ask(daemon, "import socket; socket.socket()")
    assert said["status"] == "Failed" and "socket" in said["run_result"]["stderr"] + said["message"], said


@pytest.mark.parametrize("wanted, words", [(["x"] * 257, "fetch_files: more than 256"), (["x" * 1025], "a path of more than 1024 bytes")])
def test_what_a_request_wants_back_is_bounded(daemon, wanted, words):
    refused = ask(daemon, "1", fetch_files=wanted)
    assert refused["status"] == "SandboxError" and words in refused["message"], refused
    assert ask(daemon, "open('x', 'w').write('y')", fetch_files=["x"] * 256)["files"] == {"x": "eQ=="}


def test_answers_that_nobody_reads_take_no_more_memory_than_other_answers(daemons_user):
    folder = cells.new_directory(daemons_user)
    (folder / "judge.json").write_text(json.dumps({"extends": "default", "tree": "base"}))
    large = "with open('large', 'wb') as f: f.write(bytes(5 << 20))"
    body = json.dumps({"code": large, "fetch_files": ["large"]}).encode()
    with daemons.Daemon(daemons_user, base=False, env={"HOTCELL_POLICIES": str(folder)},
                        config={"sandboxfusion": {"policy": "judge"}, "http": {"body": "8M", "bodies": "12M"}}) as d:
        deaf = d.connect()
        deaf.request("POST", "/run_code", body, {"Content-Type": "application/json"})
        select.select([deaf.sock], [], [], cells.PATIENCE)  # the answer has begun, and nobody reads it
        second = d.request("POST", "/run_code", body, {"Content-Type": "application/json"})
        assert second.status == 504 and "earlier answers" in second.json["detail"], second
        assert len(json.loads(deaf.getresponse().read())["files"]["large"]) == -(-(5 << 20) // 3) * 4
        deaf.close()
        again = d.request("POST", "/run_code", body, {"Content-Type": "application/json"})
        assert again.status == 200 and again.json["files"]["large"], again.status


def test_it_is_off_unless_the_configuration_says_otherwise(user):
    with daemons.Daemon(user) as plain:
        answer = plain.request("POST", "/run_code", b'{"code": "1"}', {"Content-Type": "application/json"})
        assert answer.status == 404 and "sandboxfusion.policy" in answer.json["detail"], answer


def test_many_at_once_get_their_own_verdicts(daemon):
    found = {}

    def one(number):
        kind = number % 3
        code = ["print(input())", "import sys; print(input()); sys.exit(1)", "print(input(), flush=True)\nwhile True: pass"][kind]
        found[number] = ask(daemon, code, stdin=f"{number}\n", run_timeout=2 if kind == 2 else 30)
    threads = [threading.Thread(target=one, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, said in found.items():
        run = said["run_result"]
        assert run["stdout"] == f"{number}\n", said
        assert (said["status"], run["status"]) == [("Success", "Finished"), ("Failed", "Finished"), ("Failed", "TimeLimitExceeded")][number % 3], said
    assert len(found) == 24
