"""For scripts/deb/try: runs a command, the upgrade of the packages, while a daemon has a job that runs, one that waits and a session.

    jobs_of_upgrade.py COMMAND...

The daemon is the installed one, with the installed configuration, of one worker. All go on: the job that runs and the session as if nothing had
been, and the job that waits at the daemon that is started anew.
"""

import subprocess
import sys
import time

import hotcell

SOCKET = "/run/hotcell/hotcelld.sock"


def start_daemon():
    daemon = subprocess.Popen(["hotcelld"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in daemon.stderr:
        sys.stderr.write(line)
        if "ready: 1 workers," in line:
            return daemon
    raise SystemExit(f"hotcelld has ended with status {daemon.wait()}")


def states(client, *jobs):
    known = {job["job_id"]: job["state"] for job in client.jobs()}
    return [known[job.id] for job in jobs]


def upgrade():
    """A tool of the job that runs."""
    subprocess.run(sys.argv[1:], check=True, stdin=subprocess.DEVNULL)
    assert states(client, runs, waits) == ["running", "queued"], client.jobs()
    assert session.run("x + 1").value == 42
    return "it ran"


def end_daemon(event):
    """As packages do when files are in place; the job goes on for a while."""
    if event["event"] == "stdout" and not ended:
        ended.append(event)
        first.terminate()


ended = []
first = start_daemon()
client = hotcell.Daemon(SOCKET)
session = client.session(tree="base")
session.run("x = 41")
runs = client.submit("import time\nprint(tools.upgrade(), flush=True)\ntime.sleep(5)", tools=[hotcell.Tool(upgrade, timeout="1h")], policy="ours")
waits = client.submit("print('it waited')", tree="base")
while states(client, runs, waits) != ["running", "queued"]:
    time.sleep(0.1)
ran = runs.result(on_event=end_daemon)
assert ran.stdout.text == "it ran\n" and ended, ran.manifest
log = first.communicate()[1]
assert first.returncode == 0 and "for the version that was installed" in log, log
second = start_daemon()
assert waits.result().stdout.text == "it waited\n"
assert runs.result().manifest == ran.manifest, runs.result().manifest
assert client.run("print(6 * 7)", tree="base").stdout.text == "42\n"
second.terminate()
second.communicate()
assert second.returncode == 0, second.returncode
