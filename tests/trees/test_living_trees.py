"""Trees that live: what is in them, what is newer, going on to a newer one and back, and removing what nothing needs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import cells
import daemons
import pytest
from trees import Store, write_recipe
from wheels import make_wheel, pin

ROOTFS = Path(__file__).resolve().parents[2] / "rootfs"
MORE = {"files": ["/usr/share/zoneinfo", "/etc/debian_version"]}


@pytest.fixture
def store(base_tree):  # pylint: disable=unused-argument
    """A store of the test's own with the tree tiny, and the recipe that it was built from."""
    here = cells.new_directory(cells.caller())
    made = Store(here / "state")
    made.recipe = write_recipe(here)
    made.id = made.build(made.recipe)
    return made


@pytest.fixture(scope="module")
def built(base_tree):  # pylint: disable=unused-argument
    """The same, which tests leave as it is."""
    here = cells.new_directory(cells.caller())
    made = Store(here / "state")
    made.id = made.build(write_recipe(here))
    wheel = make_wheel(here)
    (here / "lock.txt").write_text(pin(wheel))
    assert made.tree("extend", "tiny", "--name", "geo", "--wheels", here, "--requirements", here / "lock.txt").returncode == 0
    return made


def meta_of(store, name="tiny"):
    return Path(store.tree("path", name).stdout.strip()) / "meta.json"


def update(store, **keys):
    """Another recipe under the same name, and the tree built anew of it."""
    write_recipe(store.recipe.parent, **keys)
    done = store.tree("update", "tiny", timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[0], done.stderr


# ---- what is in them ----

def test_show_says_which_debian_revisions_it_was_built_from(built):
    shown = json.loads(built.tree("show", "--json", "tiny+geo").stdout)
    assert [row["name"] for row in shown] == ["tiny", "+geo"] and shown[0]["id"] == built.id
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", "libc6", "tzdata"], capture_output=True, text=True, check=True)
    for line in query.stdout.splitlines():
        name, version = line.split()
        assert shown[0]["packages"][name]["version"] == version
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", shown[0]["built"]) and "libc.so.6" in shown[0]["shared_libraries"]
    text = built.tree("show", "tiny+geo").stdout
    assert f"libc6={shown[0]['packages']['libc6']['version']}" in text and "geo==1.0" in text and "geo-1.0-py3-none-any.whl" in text


def check_cyclonedx(bill):
    """What CycloneDX 1.5 requires of a document, and forbids in it."""
    assert bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5" and bill["version"] == 1
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", bill["serialNumber"])
    assert set(bill) <= {"bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"}
    every = [bill["metadata"]["component"], *bill["components"]]
    for component in every:
        assert component["type"] in ("library", "platform") and component["name"] and set(component) <= {
            "type", "bom-ref", "name", "version", "purl", "hashes"}
        assert re.fullmatch(r"pkg:(deb/debian|pypi)/[^/@ ]+@[^@ ]+", component.get("purl", "pkg:pypi/a@1"))
        for digest in component.get("hashes", []):
            assert digest["alg"] == "SHA-256" and re.fullmatch("[0-9a-f]{64}", digest["content"])
    references = [component["bom-ref"] for component in every]
    assert len(set(references)) == len(references)
    assert all(row["ref"] in references and set(row["dependsOn"]) <= set(references) for row in bill["dependencies"])


def test_sbom(built):
    done = built.tree("sbom", "tiny+geo")
    bill = json.loads(done.stdout)
    check_cyclonedx(bill)
    components = {component["name"]: component for component in bill["components"]}
    assert components["libc6"]["purl"].startswith("pkg:deb/debian/libc6@") and "arch=" in components["libc6"]["purl"]
    wheel = next(built.path.parent.glob("*.whl"))
    assert components["geo"]["hashes"][0]["content"] in pin(wheel) and components["geo"]["purl"] == "pkg:pypi/geo@1.0"
    assert built.tree("sbom", "tiny+geo").stdout == done.stdout
    check_cyclonedx(json.loads(built.tree("sbom", "+geo").stdout))


def test_outdated(store):
    path = meta_of(store)
    meta = json.loads(path.read_text())
    for about in meta["packages"].values():
        about["version"] = "9999:1"
    path.write_text(json.dumps(meta))
    done = store.tree("outdated")
    assert (done.returncode, done.stdout) == (0, ""), done
    meta["packages"]["libc6"]["version"] = "0.1"
    path.write_text(json.dumps(meta))
    done = store.tree("outdated", "--json", "tiny")
    rows = json.loads(done.stdout)
    assert done.returncode == 1 and [(row["tree"], row["package"], row["version"]) for row in rows] == [("tiny", "libc6", "0.1")], done
    assert re.search(r"^tiny  libc6: 0\.1 -> \S+ \((installed|apt)", store.tree("outdated").stdout)
    del meta["packages"]
    path.write_text(json.dumps(meta))
    done = store.tree("outdated")
    assert done.returncode == 65 and "tree update" in done.stderr
    assert store.tree("sbom", "tiny").returncode == 65


def test_security_updates_are_told_from_others(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOTFS))
    import packages  # pylint: disable=import-outside-toplevel,import-error
    answer = """libssl3:
  Installed: 3.0.19-1
  Candidate: 3.0.22-1
  Version table:
     3.0.22-1 500
        500 http://deb.example.org/debian-security bookworm-security/main amd64 Packages
     3.0.20-1 500
        500 http://deb.example.org/debian bookworm/main amd64 Packages
 *** 3.0.19-1 100
        100 /var/lib/dpkg/status
"""
    monkeypatch.setattr(packages, "_ask", lambda *command: answer)
    assert packages.available(["libssl3"]) == {"libssl3": [("3.0.22-1", True), ("3.0.20-1", False)]}
    assert packages.is_newer("1:1.24.2-1+deb12u1", "1:1.24.2-1") and not packages.is_newer("1.0~rc1", "1.0")
    sys.modules.pop("packages")


# ---- a newer one ----

def test_update_and_rollback(store):
    same, said = update(store)
    assert same == store.id and "was up to date" in said
    assert store.tree("rollback", "tiny").returncode == 65
    newer, said = update(store, **MORE)
    assert newer != store.id and f"was {store.id[:12]}" in said and store.list()["tiny"] == newer
    differs = json.loads(store.tree("diff", "--json", store.id, "tiny").stdout)
    assert differs["files"] == {"added": 1, "removed": 0, "changed": 0} and differs["new"] == newer and "base-files" in differs["packages"]
    with_layers = store.tree("diff", "tiny", "tiny+geo")
    assert (with_layers.returncode, with_layers.stdout) == (64, "") and "'tiny+geo' has layers: expected two trees or two layers" in with_layers.stderr
    assert "1 added" in store.tree("diff", store.id, "tiny").stdout and store.tree("diff", "tiny", "tiny").returncode == 0
    assert store.tree("rollback", "tiny").stdout == f"{store.id} tiny\n" and store.list()["tiny"] == store.id
    assert store.run("tiny").stdout == "42\n"
    assert store.tree("rollback", "tiny").returncode == 0 and store.list()["tiny"] == newer
    assert store.tree("remove", store.id).returncode == 0
    done = store.tree("rollback", "tiny")
    assert done.returncode == 65 and "has been removed" in done.stderr and store.list()["tiny"] == newer


def test_update_of_what_nobody_knows_how_to_build(store):
    path = meta_of(store)
    meta = json.loads(path.read_text())
    del meta["from"]
    path.write_text(json.dumps(meta))
    done = store.tree("update", "tiny")
    assert done.returncode == 65 and "tree build" in done.stderr
    assert store.tree("update", "tiny+geo").returncode == 64 and store.tree("update", "nowhere").returncode == 69
    assert store.tree("update").returncode == 64 and store.tree("rollback", "../x").returncode == 64


def test_prune_keeps_what_is_needed(store):
    """Names, what a name can be rolled back to, and what a job runs in; a job that runs while its tree is replaced has its files."""
    with cells.start("import time; print('up', flush=True); time.sleep(60)", tree="tiny", env=store.env) as job:
        job.read_line()
        newer, _ = update(store, **MORE)
        kept = store.tree("prune")
        assert f"kept      {newer[:12]}  it is 'tiny'" in kept.stdout and f"kept      {store.id[:12]}  it was 'tiny' before" in kept.stdout
        done = store.tree("prune", "--previous", "--remove")
        assert f"kept      {store.id[:12]}  a job" in done.stdout and set(store.entries()) == {store.id, newer}, done
    trial = store.tree("prune", "--previous")
    assert f"unneeded  {store.id[:12]}\n" in trial.stdout and "'hotcell tree prune --previous --remove' removes" in trial.stdout and store.id in store.entries()
    done = store.tree("prune", "--previous", "--remove")
    assert f"removed   {store.id[:12]}\n" in done.stdout and store.entries() == [newer], done
    assert store.run("tiny").stdout == "42\n"
    assert store.tree("prune", "tiny").returncode == 64 and store.tree("prune", "--frob").returncode == 64


def test_daemon_takes_the_new_tree_and_says_so(store):
    """The job that runs keeps the old tree, those after it have the new one, also in warm cells; the daemon goes on."""
    with daemons.Daemon(base=False, env=store.env) as d:
        code = "import os; print(os.path.exists('/etc/debian_version'))"
        for _ in range(2):
            assert d.post({"code": code, "tree": "tiny"}).json["stdout"]["text"] == "False\n"
        running = d.post_async({"code": "import time; time.sleep(60)", "tree": "tiny"})
        cells.wait_until("it runs", lambda: d.get(f"/v1/jobs/{running}").json["state"] == "running")
        newer, _ = update(store, **MORE)
        d.wait_for_line(f"tree 'tiny' is {newer[:12]} now, and was {store.id[:12]}")
        cells.wait_until("the new tree is used", lambda: d.post({"code": code, "tree": "tiny"}).json["stdout"]["text"] == "True\n")
        assert d.post({"code": code, "tree": "tiny"}).json["tree"]["sha256"] == newer
        assert d.send(f"/v1/jobs/{running}/cancel").status == 202
        list(d.events(running))
        assert d.result(running)["manifest"]["tree"]["sha256"] == store.id


def test_scientific_has_all_of_the_minimal_recipe(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOTFS))
    import recipe  # pylint: disable=import-outside-toplevel,import-error
    minimal, whole = (recipe.load(ROOTFS / f"{name}.json") for name in ("minimal-scientific", "scientific"))
    assert minimal.distributions == ["numpy", "pandas", "matplotlib"] and set(minimal.distributions) < set(whole.distributions)
    assert set(minimal.imports) < set(whole.imports) and set(minimal.exclude) < set(whole.exclude) and minimal.debian.items() <= whole.debian.items()
    sys.modules.pop("recipe")
