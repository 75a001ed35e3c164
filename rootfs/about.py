"""about - says what trees and layers hold, for `hotcell tree show|diff|outdated|sbom`, of what their builders noted.

    python3 -I about.py ACTION [--json] NAME=DIR...

Each NAME=DIR is a tree, as the user called it, and its directory in the store; the layers of a tree follow it as
"+NAME=DIR". The exit status is 1 if something is outdated or differs, as that of `cmp`.
"""

import json
import os
import sys
import time
import uuid
from urllib.parse import quote

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# pylint: disable=wrong-import-position
import errors  # noqa: E402
import packages  # noqa: E402
import requirements  # noqa: E402

BAD_INPUT = 65
NO_PACKAGES = "an older hotcell built it, which noted no packages: 'hotcell tree update' makes it anew"

NOT_COMPARED = "not looked at, as a layer has no packages of this system: 'hotcell tree show' names its versions, and 'hotcell tree extend' " \
               "makes it anew, of newer wheels"


def say(text):
    """Prints one line for the user."""
    errors.say("hotcell tree", text)


class Entry:
    """A tree or a layer of the store."""

    def __init__(self, argument):
        self.name, _, self.directory = argument.partition("=")
        self.id = os.path.basename(os.path.realpath(self.directory))
        with open(os.path.join(self.directory, "meta.json"), encoding="utf-8") as source:
            self.meta = json.load(source)

    @property
    def built(self):
        """When it was built: the note has the same bytes each time, and only its file has a date."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(os.stat(os.path.join(self.directory, "meta.json")).st_mtime))

    @property
    def is_layer(self):
        return self.name.startswith("+")

    @property
    def packages(self):
        """Debian's packages by name; None: nobody noted them."""
        return self.meta.get("packages")

    def distributions(self):
        """The Python distributions: name -> version."""
        return self.meta.get("distributions", {})

    def index(self):
        """The entries by their paths."""
        with open(os.path.join(self.directory, "index"), encoding="utf-8", errors="surrogateescape") as source:
            return {line.rstrip("\n").split(" ", 4)[4]: line for line in source}


# ---- show ----

def show(entries, as_json):
    """What each is."""
    if as_json:
        print(json.dumps([{"name": entry.name, "id": entry.id, "built": entry.built, **entry.meta} for entry in entries], indent=2))
        return 0
    for entry in entries:
        meta = entry.meta
        print(f"{entry.name}  {entry.id}")
        rows = [("built", entry.built), ("recipe", meta.get("recipe")), ("python", meta.get("python")),
                ("system", meta.get("system")), ("base", (meta.get("base") or {}).get("name")),
                ("size", f"{meta.get('bytes', 0) / 2**20:.1f} MiB in {meta.get('files', 0)} files"),
                ("modules", " ".join(meta.get("modules", []))),
                ("programs", " ".join(meta.get("programs", []))),
                ("distributions", " ".join(f"{name}=={version}" for name, version in entry.distributions().items())),
                ("packages", " ".join(f"{name}={about['version']}" for name, about in (entry.packages or {}).items())),
                ("sources", " ".join(next(iter(source.values())) for source in meta.get("sources", [])))]
        for label, value in rows:
            if value:
                print(f"  {label}: {value}")
    return 0


# ---- diff ----

def _compare(old, new):
    """Pairs of what each has, by name, where they differ."""
    return {name: (old.get(name), new.get(name)) for name in sorted({*old, *new}) if old.get(name) != new.get(name)}


def diff(entries, as_json):
    """What differs between two."""
    old, new = entries
    versions = [{name: about["version"] for name, about in (entry.packages or {}).items()} for entry in entries]
    found = {"packages": _compare(*versions), "distributions": _compare(old.distributions(), new.distributions()),
             "files": _compare(old.index(), new.index())}
    kinds = {"added": 0, "removed": 0, "changed": 0}
    for before, after in found["files"].values():
        kinds["added" if before is None else "removed" if after is None else "changed"] += 1
    if as_json:
        pairs = {kind: {name: {"old": pair[0], "new": pair[1]} for name, pair in found[kind].items()} for kind in ("packages", "distributions")}
        print(json.dumps({"old": old.id, "new": new.id, **pairs, "files": kinds}, indent=2))
    else:
        for kind in ("packages", "distributions"):
            for name, (before, after) in found[kind].items():
                print(f"{kind[:-1]:13} {name}: {before or 'none'} -> {after or 'none'}")
        print("files         " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
    return 1 if any(found.values()) else 0


# ---- outdated ----

def _newer(entry, here, apt):
    """The packages of a tree of which there is a newer version, as rows."""
    rows = []
    for name, about in entry.packages.items():
        offers = [(version, "apt", security) for version, security in apt.get(name, [])]
        offers += [(here[name], "installed", False)] if name in here else []
        offers = [offer for offer in offers if packages.is_newer(offer[0], about["version"])]
        if not offers:
            continue
        best = offers[0]
        for offer in offers[1:]:
            if offer[0] == best[0]:   # what is installed can be built from now
                best = (best[0], min(best[1], offer[1], key=("installed", "apt").index), best[2] or offer[2])
            elif packages.is_newer(offer[0], best[0]):
                best = offer
        rows.append({"tree": entry.name, "package": name, "version": about["version"], "newest": best[0], "where": best[1],
                     "security": any(offer[2] for offer in offers)})
    return rows


def outdated(entries, as_json):
    """Packages of which this host or apt's lists have a newer version."""
    trees = [entry for entry in entries if not entry.is_layer or entry.packages]
    for entry in entries:
        if entry not in trees:
            say(f"{entry.name}: {NOT_COMPARED}")
    if entries and not trees:
        return BAD_INPUT
    for entry in trees:
        if entry.packages is None:
            say(f"{entry.name}: {NO_PACKAGES}")
            return BAD_INPUT
    here = {about["name"]: about["version"] for about in packages.installed().values()}
    apt = packages.available(sorted({name for entry in trees for name in entry.packages}))
    rows = [row for entry in trees for row in _newer(entry, here, apt)]
    if as_json:
        print(json.dumps(rows, indent=2))
    for row in rows if not as_json else ():
        print(f"{row['tree']}  {row['package']}: {row['version']} -> {row['newest']} ({row['where']}{', security' if row['security'] else ''})")
    return 1 if rows else 0


# ---- sbom ----

def _component(kind, name, version, purl, **more):
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl, **more}


def _conda_component(name, about):
    where = {"build": about.get("build"), "channel": about.get("channel"), "subdir": about.get("platform")}
    query = "&".join(f"{key}={quote(value, safe='-.')}" for key, value in where.items() if value)
    more = {"licenses": [{"license": {"name": about["license"]}}]} if about.get("license") else {}
    if about.get("sha256"):
        more["hashes"] = [{"alg": "SHA-256", "content": about["sha256"]}]
    place = f"pkg:conda/{quote(name, safe='')}@{quote(about['version'], safe='')}"
    return _component("library", name, about["version"], f"{place}?{query}" if query else place, **more)


def _components(entry):
    system = entry.meta.get("system", "debian")
    vendor = system.split("-")[0]
    for name, about in (entry.packages or {}).items():
        place = f"pkg:deb/{vendor}/{quote(name, safe='')}@{quote(about['version'], safe='')}"
        yield _component("library", name, about["version"], f"{place}?arch={about['architecture']}&distro={quote(system, safe='-.')}")
    hashes = {requirements.normal(source["wheel"].split("-")[0]): source["sha256"] for source in entry.meta.get("sources", []) if "wheel" in source}
    conda = entry.meta.get("conda", {})
    for name, about in conda.items():
        yield _conda_component(name, about)
    from_conda = {name for about in conda.values() for name in about["distributions"]}
    for name, version in entry.distributions().items():
        if name in from_conda:
            continue
        digest = hashes.get(requirements.normal(name))
        more = {"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {}
        yield _component("library", name, version, f"pkg:pypi/{requirements.normal(name)}@{quote(version, safe='')}", **more)


def sbom(entries, _):
    """A bill of materials in CycloneDX's JSON. The same tree has the same bill."""
    top = entries[0]
    if not top.is_layer and top.packages is None:
        say(f"{top.name}: {NO_PACKAGES}")
        return BAD_INPUT
    identity = "+".join(entry.id for entry in entries)
    unique = {component["bom-ref"]: component for entry in entries for component in _components(entry)}
    hashes = [{"alg": "SHA-256", "content": top.id}] if len(entries) == 1 else []
    subject = {"type": "platform", "bom-ref": f"hotcell-tree:{identity}", "name": "".join(entry.name for entry in entries), "version": top.id[:12],
               **({"hashes": hashes} if hashes else {})}
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, 'hotcell-tree:' + identity)}",
        "version": 1,
        "metadata": {
            "timestamp": max(entry.built for entry in entries),
            "component": subject,
        },
        "components": [*unique.values()],
        "dependencies": [{"ref": subject["bom-ref"], "dependsOn": sorted(unique)}],
    }
    print(json.dumps(bill, indent=2))
    return 0


def main(arguments):
    """Does one action."""
    actions = {"show": show, "diff": diff, "outdated": outdated, "sbom": sbom}
    action = actions[arguments[0]]
    names = [argument for argument in arguments[1:] if argument != "--json"]
    try:
        status = action([Entry(name) for name in names], "--json" in arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except (OSError, ValueError) as error:
        say(errors.sentence(error))
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
