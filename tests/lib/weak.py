"""The weakened build (make WEAK=1 B=build/weak), whose cells do without the layers that a variable names: see
src/inside/weak.h."""

import cells

BUILD = cells.BUILD / "weak"
HOTCELL = BUILD / "hotcell"
VARIABLE = "HOTCELL_WITHOUT"
EVIDENCE = "switched off in a weakened build"

LAYERS = ("user_namespace", "pid_namespace", "network_namespace", "ipc_namespace", "uts_namespace",
          "cgroup_namespace", "time_namespace", "ids", "capabilities", "no_new_privs", "read_only_tree", "mount_flags",
          "proc", "seccomp", "landlock", "rlimits", "cgroup", "guard")
# What the launcher does, of which the manifest has no row.
DUTIES = ("watch", "collecting", "checker")
ROOT_ONLY = {"user_namespace", "ids"}
NEEDED_FOR = {"no_new_privs": ("seccomp", "landlock")}  # layer -> layers that cannot be on without it


def without(*layers):
    """The environment of a launcher whose cells lack these, and what cannot be on without them."""
    names = {name for layer in layers for name in (layer, *NEEDED_FOR.get(layer, ()))}
    return {VARIABLE: ",".join(name for name in (*LAYERS, *DUTIES) if name in names)}


def need_build():
    if not HOTCELL.exists():
        cells.skip("there is no weakened build: run 'make WEAK=1 B=build/weak'")
