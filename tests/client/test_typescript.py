"""The TypeScript client of hotcelld: it is built as its users would, installed as a package, and its own tests run against daemons."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import cells
import daemons
import encrypting
import npm
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "typescript"
TOKEN = "a-token-of-the-team"


def use(folder, *command, env=None, patience=cells.PATIENCE):
    done = subprocess.run([str(each) for each in command], cwd=folder, capture_output=True, text=True, check=False, timeout=patience,
                          env={**os.environ, **(env or {})})
    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(name="package", scope="module")
def module_package():
    """Where the package was compiled."""
    folder = npm.installed(SOURCE, "typescript")
    use(folder, "node_modules/.bin/tsc", "--strict")
    return folder


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):  # pylint: disable=unused-argument
    """What the tests in Node.js are told of a daemon that listens on a socket, and on a port for those with a token."""
    port, config = daemons.config_with_token(TOKEN)
    config["tenants"]["team"]["uids"] = [cells.caller().uid]
    counted = {} if cells.counts_memory(cells.caller()) else {"limits": {"enforcement": "rlimits"}}
    policies = cells.new_directory(cells.caller())
    (policies / "commands.json").write_text(json.dumps({"extends": "shell", **counted}))
    with daemons.Daemon(config={**config, "workers": 2}, env={"HOTCELL_POLICIES": str(policies)}) as d, encrypting.Server(port, "/cells/of-ours") as server:
        yield {"SOCKET": str(d.socket), "URL_PLAIN": f"http://127.0.0.1:{port}", "URL_TLS": server.url, "CA_FILE": str(server.ca_file), "TOKEN": TOKEN,
               "DAEMON_PID": str(d.pid), "SECONDS": f"{20 * cells.SLOWNESS:g}"}
        assert d.end() == 0, d.log


def run_tests(package, daemon, name):
    """Have Node.js run a file of tests; all of them have passed, and there are some."""
    place = cells.new_directory(cells.caller())
    said = use(package, "node", "--test", "--test-reporter=tap", f"test/{name}.test.mjs", env={**daemon, "PLACE": str(place)}, patience=5 * cells.PATIENCE)
    passed = re.search(r"^# pass (\d+)$", said, re.M)
    assert passed and int(passed[1]) > 0 and "# skipped 0" in said, said


@pytest.mark.parametrize("name", ["jobs", "sessions", "addresses"])
def test_of_the_package(package, daemon, name):
    run_tests(package, daemon, name)


@pytest.mark.usefixtures("scientific")
def test_arrays_and_frames(package, daemon):
    run_tests(package, daemon, "frames")


@pytest.mark.usefixtures("shell_tree")
def test_commands(package, daemon):
    run_tests(package, daemon, "commands")


def test_a_daemon_that_is_killed_and_started_again(package, base_tree):  # pylint: disable=unused-argument
    """Who waits for a submitted job hears of it from the next daemon; a run that was connected to the old one is lost."""
    with daemons.Daemon(config={"workers": 2}) as d:
        env = {**os.environ, "HOTCELL_SOCKET": str(d.socket), "SECONDS": f"{100 * cells.SLOWNESS:g}"}
        with subprocess.Popen(["node", "test/restart.mjs"], cwd=package, stdout=subprocess.PIPE, text=True, env=env) as node:
            assert node.stdout.readline() == "up\n"
            cells.wait_until("both jobs", lambda: sum(job["state"] == "running" for job in d.get("/v1/jobs").json["jobs"]) == 2)
            d.end(signal.SIGKILL)
            d.start_again()
            said = json.loads(node.stdout.readline())
            assert node.wait(cells.PATIENCE) == 0
    assert said == {"waited": ["LaunchProblem", "started_outcome_unknown", True], "ran": ["DaemonLost", "started_outcome_unknown", False],
                    "state": "failed", "value": 42}, said


def test_all_files_of_tests_are_run():
    assert {path.name.partition(".")[0] for path in SOURCE.glob("test/*.test.mjs")} == {"jobs", "sessions", "addresses", "frames", "commands"}


def test_the_types_are_those_of_the_document(package):
    use(package, "node_modules/.bin/openapi-typescript", cells.BUILD / "gen" / "openapi.json", "-o", "api.ts")
    assert (package / "api.ts").read_text() == (SOURCE / "src" / "api.ts").read_text(), "make generated, then npm run generate in src/typescript"


def test_a_package_that_others_install_and_compile_with(package, daemon):
    """`npm pack` makes it; a project of somebody else's gets it, without any other package."""
    packed = json.loads(use(package, "npm", "pack", "--json", "--ignore-scripts"))[0]
    names = {each["path"] for each in packed["files"]}
    assert {"package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "dist/api.d.ts"} <= names
    assert not [name for name in names if name.startswith(("src/", "test/", "node_modules/"))]
    project = cells.new_directory(cells.caller())
    (project / "package.json").write_text('{"name": "project", "version": "1.0.0", "type": "module"}')
    use(project, "npm", "install", "--offline", "--no-audit", "--no-fund", package / packed["filename"])
    assert [path.name for path in (project / "node_modules").iterdir() if not path.name.startswith(".")] == ["hotcell"]
    (project / "main.mjs").write_text("import { Daemon } from 'hotcell';\nconsole.log((await new Daemon().run('6 * 7', { tree: 'base' })).value);\n")
    assert use(project, "node", "main.mjs", env={"HOTCELL_SOCKET": daemon["SOCKET"]}) == "42\n"
    (project / "types.ts").write_text((SOURCE / "test" / "types.ts").read_text())
    (project / "node_modules" / "@types").symlink_to(package / "node_modules" / "@types")
    (project / "node_modules" / "undici-types").symlink_to(package / "node_modules" / "undici-types")
    use(project, package / "node_modules/.bin/tsc", "--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "types.ts")


def test_the_package_says_what_it_is():
    said = json.loads((SOURCE / "package.json").read_text())
    version = re.search(r"^VERSION := (\S+)$", (SOURCE.parents[1] / "Makefile").read_text(), re.M)[1]
    assert said["license"] == "Apache-2.0" and "dependencies" not in said and said["version"] == version
    assert (SOURCE / "LICENSE").read_text() == (SOURCE.parents[1] / "LICENSE").read_text()
