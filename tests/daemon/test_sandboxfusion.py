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


def test_what_was_left_out_of_a_program_is_said(daemon):
    said = ask(daemon, "!pip install x\nprint(1)")
    assert (said["status"], said["run_result"]["stdout"], said["run_result"]["stderr"]) == ("Success", "1\n", ""), said
    assert said["message"] == "line 1: The notebook command '!pip install x' was left out.", said


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


def test_a_file_that_is_no_base64_is_named(daemon):
    said = ask(daemon, "1", files={"in/good.txt": encoded("1"), "in/bad.txt": "!!"})
    assert said["status"] == "SandboxError" and "expected base64 for the file 'in/bad.txt'" in said["message"], said


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


# ---- notebooks ----

def ask_notebook(daemon, *cells, **more):
    body = {"cells": list(cells), "cell_timeout": 0, "total_timeout": 45, "memory_limit_MB": -1, "kernel": "python3", "files": {}, "fetch_files": [], **more}
    answer = daemon.request("POST", "/run_jupyter", json.dumps(body).encode(), {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    return answer.json


def sessions_of(daemon):
    return daemon.get("/v1/sessions", uid=daemon.user.uid if cells.IS_ROOT else None).json["sessions"]


def test_cells_of_a_notebook_run_in_one_state(daemon):
    said = ask_notebook(daemon, "a = 'hello'", "a", "print(a)", "import sys; print('out'); sys.stderr.write('on stderr\\n')")
    assert (said["status"], said["message"], said["executor_pod_name"], said["files"]) == ("Success", "", None, {}), said
    assert said["driver"]["status"] == "Finished" and said["driver"]["return_code"] == 0 and said["driver"]["execution_time"] > 0
    first, second, third, last = said["cells"]
    assert first == {"stdout": "", "stderr": "", "display": [], "error": []}
    assert second["display"][0]["text/plain"] == "'hello'" and third["stdout"] == "hello\n"
    assert (last["stdout"], last["stderr"]) == ("out\n", "on stderr\n")
    cells.wait_until("its session has ended", lambda: all(s["state"] == "ended" for s in sessions_of(daemon)))


def test_what_was_left_out_of_a_cell_is_said(daemon):
    said = ask_notebook(daemon, "!pip install x", "import sys; sys.stderr.write('own')\n!pip install y")
    first, second = said["cells"]
    assert first["stderr"] == "hotcell: line 1: The notebook command '!pip install x' was left out.\n" and first["error"] == [], first
    assert second["stderr"].startswith("own\nhotcell: line 2: ") and second["error"] == [], second


def test_a_cell_that_fails_says_why_and_the_next_ones_run(daemon):
    said = ask_notebook(daemon, "a = 1", "import sys; sys.stderr.write('before\\n')\nassert False, 'why'", "def", "import os; os._exit(3)", "print(a)")
    assert said["status"] == "Success", said
    _, failed, wrong, gone, last = said["cells"]
    assert failed["error"][0]["ename"] == "AssertionError" and failed["error"][0]["evalue"] == "why" and failed["stderr"] == "before\n", failed
    assert failed["error"][0]["traceback"][0].startswith("Traceback") and failed["error"][0]["traceback"][-1] == "AssertionError: why"
    assert wrong["error"][0]["ename"] == "SyntaxError" and wrong["stderr"] == "", wrong
    assert gone["error"][0]["evalue"] and not gone["error"][0]["traceback"], gone
    assert (last["stdout"], last["error"]) == ("1\n", [])


@pytest.mark.parametrize("limits", [{"cell_timeout": 0.5}, {"total_timeout": 0.5}])
def test_a_notebook_ends_at_its_limits_of_time(daemon, limits):
    said = ask_notebook(daemon, "print(1)", "while True: pass", "print(2)", **limits)
    assert (said["status"], said["driver"]["status"], said["driver"]["return_code"], said["cells"]) == ("Failed", "TimeLimitExceeded", None, []), said
    assert said["message"].startswith("cell 2: ") and "limits.timeout" in said["message"], said


def test_files_of_a_notebook_go_in_and_come_back(daemon):
    said = ask_notebook(daemon, "text = open('data/in.txt').read()", "open('out.txt', 'w').write(text * 2)", files={"data/in.txt": encoded("given")},
                        fetch_files=["out.txt", "nothing", "../manifest.json"])
    assert said["files"] == {"out.txt": encoded("givengiven")}, said


def test_an_empty_notebook_has_no_cells(daemon):
    said = ask_notebook(daemon)
    assert (said["status"], said["cells"]) == ("Success", []), said


def test_a_figure_is_displayed(scientific, daemons_user):
    del scientific
    folder = cells.new_directory(daemons_user)
    (folder / "judge.json").write_text(json.dumps({"extends": "default", "tree": "scientific"}))
    with daemons.Daemon(daemons_user, base=False, env={"HOTCELL_POLICIES": str(folder)}, config={"sandboxfusion": {"policy": "judge"}}) as d:
        said = ask_notebook(d, "import matplotlib.pyplot as plt", "plt.plot([1, 2])\nplt.show()\n5")
    image, value = said["cells"][1]["display"]
    assert base64.b64decode(image["image/png"]).startswith(b"\x89PNG") and value["text/plain"] == "5", said


@pytest.mark.parametrize("body, words", [
    (b"[]", "expected an object"), (b"{}", "cells: expected a list, got nothing"), (b'{"cells": 1}', "cells: expected a list, got a number"),
    (b'{"cells": [1]}', "cells: expected strings, got a number"), (b'{"cells": [], "cell_timeout": -2}', "above 0"), (b'{"cells": [], "files": {"../x": ""}}', "begins with a dot"),
])
def test_what_is_no_notebook_is_refused(daemon, body, words):
    answer = daemon.request("POST", "/run_jupyter", body, {"Content-Type": "application/json"})
    assert answer.status in (400, 422) and words in answer.json["detail"], answer


def test_a_notebook_can_have_nothing_that_a_session_cannot_have(daemon):
    for more, words in (({"memory_limit_MB": 100000}, "limits.memory"), ({"total_timeout": 100000}, "limits.timeout"), ({"kernel": "ir"}, "expected python3")):
        said = ask_notebook(daemon, "1", **more)
        assert said["status"] == "SandboxError" and words in said["message"] and said["driver"] is None and said["cells"] == [], said
    said = ask_notebook(daemon, *["1"] * 1025)
    assert said["status"] == "SandboxError" and "cells: more than 1024" in said["message"], said


def test_a_client_that_hangs_up_ends_its_notebook(daemons_user):
    folder = cells.new_directory(daemons_user)
    (folder / "judge.json").write_text(json.dumps({"extends": "default", "tree": "base", "limits": {"max": {"timeout": "10m"}}}))
    with daemons.Daemon(daemons_user, base=False, env={"HOTCELL_POLICIES": str(folder)}, config={"sandboxfusion": {"policy": "judge"}}) as d:
        connection = d.connect(uid=d.user.uid if cells.IS_ROOT else None)
        connection.request("POST", "/run_jupyter", json.dumps({"cells": ["while True: pass"], "total_timeout": 300}).encode(), {"Content-Type": "application/json"})
        cells.wait_until("the cell runs", lambda: any(s["state"] == "running" for s in sessions_of(d)))
        connection.close()
        cells.wait_until("the session has ended", lambda: all(s["state"] == "ended" for s in sessions_of(d)))


def test_notebooks_at_once_have_states_of_their_own(daemon):
    found = {}

    def one(number):
        found[number] = ask_notebook(daemon, f"x = {number}", "print(x)")["cells"]
    cells.wait_until("earlier sessions have ended", lambda: all(s["state"] == "ended" for s in sessions_of(daemon)))
    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]  # as many sessions as a tenant may have
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: found[number][1]["stdout"] for number in found} == {number: f"{number}\n" for number in range(4)}
