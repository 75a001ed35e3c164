"""Layers switched off one at a time: what the weakened build says of itself, and that no other build can be weakened.

What the other layers hold then is shown by test_layer_matrix.py.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

import cells
import hostile
import session_client
import meter
import weak

HELLO = "print('hello')"


@pytest.fixture
def weakened(monkeypatch):
    weak.need_build()
    monkeypatch.setattr(cells, "HOTCELL", weak.HOTCELL)


def off(result):
    return {name for name, layer in result.manifest["layers"].items()
            if not layer["on"] and layer["evidence"] == weak.EVIDENCE}


@pytest.mark.parametrize("program", ["hotcell", "hotcell-shim"])
def test_no_other_build_can_be_weakened(program):
    text = (cells.BUILD / program).read_bytes()
    assert weak.VARIABLE.encode() not in text and weak.EVIDENCE.encode() not in text


def make(*arguments):
    environment = {name: value for name, value in os.environ.items() if name not in ("B", "WEAK", "MAKEFLAGS")}
    return subprocess.run(["make", *map(str, arguments)], cwd=Path(__file__).resolve().parents[2], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=cells.PATIENCE)


@pytest.mark.parametrize("directory", ["build", "./build/"])
def test_no_other_build_takes_up_its_objects(directory):
    done = make("-n", "WEAK=1", f"B={directory}")
    assert done.returncode != 0 and "WEAK=1 needs a directory of its own" in done.stderr


def test_a_weakened_build_is_not_installed(weakened, tmp_path):
    """However make was told of it: -o all, as what is there is what would be installed."""
    done = make("-o", "all", "install", f"B={weak.HOTCELL.parent}", f"DESTDIR={tmp_path}")
    assert done.returncode != 0 and "is a weakened build, for tests only" in done.stderr
    assert os.listdir(tmp_path) == []


def test_the_variable_means_nothing_to_other_builds(user):
    usual = cells.run(HELLO, user=user).manifest["layers"]
    result = cells.run(HELLO, user=user, env={weak.VARIABLE: ",".join([*weak.LAYERS, "nonsense"])})
    assert result.manifest["status"] == "ok", result
    assert {name: layer["on"] for name, layer in result.manifest["layers"].items()} == {
        name: layer["on"] for name, layer in usual.items()}
    assert not off(result)


@pytest.mark.parametrize("layer", weak.LAYERS)
def test_one_layer_is_off_and_the_others_are_checked(weakened, user, layer):
    usual = cells.run(HELLO, user=user).manifest["layers"]
    result = cells.run(HELLO, user=user, env=weak.without(layer))
    if layer in weak.ROOT_ONLY and not user.is_root:
        assert result.status == 78 and f"{layer} cannot be off: an ordinary user" in result.stderr, result
        return
    assert result.manifest["status"] == "ok" and result.stdout == "hello\n", result
    assert off(result) == {layer, *weak.NEEDED_FOR.get(layer, ())}
    part_of = {"network_namespace": {"network"}, "seccomp": {"seccomp_job"}, "no_new_privs": {"seccomp_job"}}
    assert {name for name, row in result.manifest["layers"].items() if row["on"]} == {
        name for name, row in usual.items() if row["on"]} - off(result) - part_of.get(layer, set())


def test_without_any_layer_that_can_be_off_there_is_still_a_cell(weakened, user):
    layers = [layer for layer in weak.LAYERS if user.is_root or layer not in weak.ROOT_ONLY]
    result = cells.run(HELLO, user=user, env=weak.without(*layers))
    assert result.manifest["status"] == "ok" and off(result) == set(layers), result


@pytest.mark.parametrize("names, said", [
    ("mount_namespace", "'mount_namespace' is no layer that can be off"),
    ("seccomp,,landlock", "'' is no layer"),
    ("seccom", "'seccom' is no layer"),
    ("no_new_privs", "no_new_privs cannot be off: the kernel takes no filter"),
])
def test_a_layer_that_cannot_be_switched_off_is_named(weakened, base_tree, names, said):
    result = cells.run(HELLO, env={weak.VARIABLE: names})
    assert result.status == 78 and said in result.stderr, result


# What attacks of the drill on limits reach without, which test_layer_matrix.py does not try: each is for a kind of cell of its own.
HELD_BY = {
    "memory-thread": ("cgroup", "watch"), "memory-threads": ("cgroup", "watch"), "memory-sockets": ("cgroup", "watch"),
    "memory-sockets-pages": ("cgroup", "watch", "seccomp"), "memory-connections": ("cgroup", "watch"),
    "memory-pipes-sent": ("cgroup", "watch", "seccomp"), "memory-waits": ("cgroup", "watch"), "memory-names": ("cgroup", "watch"),
    "collect-sparse": ("collecting",), "collect-many": ("collecting",), "session-forge": ("checker",)}


def attack(hotcell, name, user, environment):
    """What the drill says of one attack on cells without a guard."""
    directory = cells.new_directory(user)
    policy = {"extends": "none"}
    if name == "memory-connections":
        policy = cells.watched_policy({**policy, "network": "loopback"}, user)
    (directory / "policy.json").write_text(json.dumps(policy))
    done = subprocess.run([hotcell, "doctor", "--drill", "--json", "-t", cells.tree_path("base"), "-p", directory / "policy.json",
                           "--attack", name], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=cells.PATIENCE, cwd=directory, env={**user.environment(), **environment}, **user.popen_arguments())
    assert done.stdout, done.stderr
    [row] = json.loads(done.stdout)["attacks"]
    return row["policy"]


def test_every_attack_in_cells_of_its_own_kind_is_tried_here():
    """But those on directories of the host: test_directories.py and test_copies.py make the same calls outside of a cell, where
    they reach what they are after."""
    on_directories = {name for name, program in hostile.all_drill().items() if program.settings.get("cell") == "directories"}
    assert on_directories and set(HELD_BY) == set(hostile.all_drill()) - set(hostile.drill()) - on_directories


@pytest.mark.parametrize("name", HELD_BY)
def test_an_attack_on_a_limit_is_seen_to_succeed_without_what_holds_it(base_tree, user, name):
    usual = cells.HOTCELL
    weak.need_build()
    if name == "session-forge":
        session_client.need_contexts()
    weakened_cell = attack(weak.HOTCELL, name, user, weak.without(*HELD_BY[name]))
    assert weakened_cell["verdict"] == "reached", weakened_cell
    verdicts = []
    while "held" not in verdicts and len(verdicts) < meter.TRIES:  # a launcher that gets no processor does not look
        verdicts.append(attack(usual, name, user, {})["verdict"])
    assert "held" in verdicts, verdicts
