"""The units for systemd: well-formed, and where it is process 1, a daemon that it starts for the first client, reloads and stops."""

import http.client
import json
import os
import re
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


def test_the_unit_for_users_is_well_formed(tmp_path):
    cells.need_program("systemd-analyze")
    (tmp_path / "hotcelld.service").write_text(unit("user/hotcelld.service"))
    found = subprocess.run(["systemd-analyze", "verify", "--user", "--recursive-errors=no", tmp_path / "hotcelld.service"], capture_output=True,
                           text=True, check=False, env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert found.returncode == 0 and "hotcelld.service" not in found.stderr, found.stderr


def exposure(text, directory):
    """What "systemd-analyze security" says of a unit: its rows, and the exposure in all, from 0 to 10."""
    cells.need_program("systemd-analyze")
    path = directory / "hotcelld.service"
    path.write_text(text)
    analyze = ["systemd-analyze", "security", "--offline=true"]
    rows = subprocess.run([*analyze, "--json=short", path], capture_output=True, text=True, check=True).stdout
    said = subprocess.run([*analyze, "--no-pager", path], capture_output=True, text=True, check=True).stdout
    return json.loads(rows), float(re.search(r"hotcelld.service: ([0-9.]+)", said)[1])


def test_what_the_service_leaves_open_has_its_reason_beside_it(tmp_path):
    text = (UNITS / "hotcelld.service").read_text()
    rows, whole = exposure(text, tmp_path)
    left = {re.match("[A-Za-z]+=", row["name"])[0] for row in rows if row["exposure"] and not row["set"]}
    assert "RestrictNamespaces=" in left
    assert not {name for name in left if name not in text} and whole < 7.5, whole


def test_the_service_without_root_is_little_exposed(tmp_path):
    settings = (UNITS / "unprivileged.conf").read_text().partition("[Service]\n")[2]
    text = (UNITS / "hotcelld.service").read_text().replace("[Install]", settings + "[Install]")
    rows, whole = exposure(text, tmp_path)
    assert whole < 4.0
    assert not [row for row in rows if row["name"].startswith("CapabilityBoundingSet") and row["exposure"] and not row["set"]]


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
