"""The units for systemd: well-formed, and where it is process 1, a daemon that it starts for the first client, reloads and stops."""

import http.client
import os
import subprocess
from pathlib import Path

import cells
import daemons
import pytest

UNITS = Path(__file__).resolve().parents[2] / "scripts" / "systemd"


def unit(name):
    """With the daemon that was built. It may be in /tmp, which the service's own would cover."""
    text = (UNITS / name).read_text().replace("/usr/local/bin/hotcelld", str(daemons.HOTCELLD)).replace("PrivateTmp=yes\n", "")
    return "\n".join(line for line in text.splitlines() if not line.startswith("Documentation=")) + "\n"


@pytest.mark.parametrize("name", ["hotcelld.service", "hotcelld.socket"])
def test_units_are_well_formed(name, tmp_path):
    cells.need_program("systemd-analyze")
    for each in ("hotcelld.service", "hotcelld.socket"):
        (tmp_path / each).write_text(unit(each))
    found = subprocess.run(["systemd-analyze", "verify", "--recursive-errors=no", tmp_path / name], capture_output=True, text=True,
                           check=False, env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"})
    assert found.returncode == 0 and name not in found.stderr, found.stderr


def systemctl(*arguments):
    return subprocess.run(["systemctl", *arguments], capture_output=True, text=True, check=True).stdout


def test_systemd_starts_watches_reloads_and_stops_it(base_tree):
    if not os.path.exists("/run/systemd/system"):
        cells.machines("systemd is not process 1")
    cells.need_root()
    for name in ("hotcelld.service", "hotcelld.socket"):
        Path("/run/systemd/system", name).write_text(unit(name))
    systemctl("daemon-reload")
    systemctl("start", "hotcelld.socket")
    connection = daemons.Connection("/run/hotcell/hotcelld.sock")
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == http.client.OK
    connection.close()
    systemctl("reload", "hotcelld.service")
    systemctl("stop", "hotcelld.service")
    assert systemctl("show", "-p", "Result", "-p", "NRestarts", "hotcelld.service").split() == ["Result=success", "NRestarts=0"]
    systemctl("stop", "hotcelld.socket")
