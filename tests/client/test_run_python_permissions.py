"""RunPython: who is asked before something of the caller's is called or written, and with what."""

import asyncio
import contextlib
import shutil
import zlib
from pathlib import Path

import pytest
from runners import Says, fresh, run  # noqa: F401

from hotcell.adapters import RunPython, notebook
from hotcell.adapters import allow as registry
from hotcell.adapters.allow import AllowChecked, allow


# ---- who is asked, and with what ----

def test_who_denies_can_be_overruled_by_the_caller():
    """The hook is in the caller's process; what the cell refuses by itself is not for it to allow."""
    asked, fetched = [], []

    def fetch(url, timeout=1): return fetched.append(url) or url
    allow(fetch, allow_policy=notebook.UrlPolicy())

    def pre_deny(info):
        asked.append(info)
        return info.call.kwargs.get("timeout") == 5
    registry.set_data(ok_urls=["example.org"])
    try:
        g = {"fetch": fetch}
        runner = RunPython(g=g, tree="base", pre_deny=pre_deny)
        asyncio.run(runner("fetch('https://example.org/a')"))
        asyncio.run(runner("fetch('https://other.org/', timeout=5)"))
        assert fetched == ["https://example.org/a", "https://other.org/"]
        with pytest.raises(PermissionError, match=r"URL 'https://other.org/' not allowed; permitted: \['example.org'\]"):
            asyncio.run(runner("fetch('https://other.org/')"))
        with pytest.raises(PermissionError, match=r"its scheme is 'http'; permitted: \['https'\]"):
            asyncio.run(runner("fetch('http://example.org/')"))
        del asked[-1]
        info = asked[-1]
        assert (info.event, info.call.name, info.call.args, dict(info.data)) == ("tool", "fetch", ("https://other.org/",), {"ok_urls": ["example.org"]})
        asyncio.run(runner("fetch('https://other.org/')", data={"ok_urls": [".org"]}))  # data of this run
        assert len(fetched) == 3
        with pytest.raises(TypeError, match="^data: expected a mapping, names and values, got list$"):
            asyncio.run(runner("fetch('https://other.org/')", data=["ok_urls"]))
        with pytest.raises(PermissionError):
            asyncio.run(runner("import os\nos.system('true')"))
        assert len(asked) == 2
    finally:
        registry.set_data()


@pytest.mark.parametrize("session", [False, True])
def test_what_runs_now_can_be_seen(session):
    seen, asked = [], []

    def look(): seen.append(registry.audit_state())

    async def later():
        await asyncio.sleep(0)
        look()
    allow(look, later)

    def hook(info): asked.append(info.origin)
    with contextlib.closing(RunPython(g={"look": look, "later": later, "print_": print}, tree="base", session=session, pre_deny=hook)) as runner:
        async def main():
            asyncio.current_task().set_name("the first")
            await runner("look()\nawait later()")
            with pytest.raises(PermissionError, match="print_ is not allowed"):
                await runner("print_(1)")
        asyncio.run(main())
    assert [[call["name"] for call in state["calls"]] for state in seen] == [["look"], ["later"]]
    assert all(f"the first at {__file__}:" in text for text in (asked[0], seen[0]["calls"][0]["origin"]))
    assert seen[0]["tools"] and seen[0]["write_types"][0] == "dict" and registry.audit_state()["calls"] == []


def test_the_origin_of_a_run_is_a_place_of_the_callers():
    """S3.33: also where the run is the only task."""
    asked = []
    with pytest.raises(PermissionError, match="print_ is not allowed"):
        run("print_(1)", {"print_": lambda text: None}, pre_deny=lambda info: asked.append(info.origin))
    assert asked and "runners.py:" in asked[0]


def test_native_code_is_held_without_a_hook(tmp_path):
    """S3.32: what native code does is held by the rules of the cell, and without audit.natives the tree's libraries need no declaration."""
    assert run("import array, zlib\nzlib.crc32(array.array('b', [1, 2]).tobytes())") == zlib.crc32(b"\1\2")
    for code, text in (("import ctypes", "Import of 'ctypes' is not allowed"), ("import os\nos.posix_spawn('/bin/true', ['true'], {})", "posix_spawn"),
                       (f"import os\nos.mkdir('{tmp_path}/new')", "not allowed; permitted")):
        with pytest.raises(PermissionError, match=text):
            run(code)
    assert not (tmp_path / "new").exists()


def test_modules_that_code_may_not_import_and_definitions():
    for code, options in (("import safepyrun", {}), ("import fastaudit", {}), ("def f(): pass", {"ban_defs": True}),
                          ("class A: pass", {"ban_defs": True}), ("import json", {"ban_imports": ["json"]}), ("from json import dumps", {"ban_imports": ["json"]}), ("import json", {"ban_imports": "json"})):
        with pytest.raises(PermissionError, match="is not allowed by this policy"):
            run(code, **options)
    assert run("import json\njson.dumps(1)", ban_imports=["csv"], ban_defs=True) == "1"


def test_a_name_of_the_callers_is_not_the_builtin_one():
    import re
    assert run("compile('a')", {"compile": re.compile}) == re.compile("a")
    for g in ({}, {"compile": compile}):
        with pytest.raises(PermissionError, match="compile"):
            run("compile('a', 'b', 'exec')", g)
    with pytest.raises(PermissionError, match="eval"):
        run("compile('a')\neval('1')", {"compile": re.compile})


@pytest.mark.parametrize("url, good", [
    ("https://example.org", True), ("https://EXAMPLE.org./x?y#z", True), ("https://example.org:8443/", True),
    ("https://sub.all.net/", True), ("https://all.net/", True), ("http://example.org/", False), ("https://example.org.evil.net/", False),
    ("https://evil.net/?example.org", False), ("https://example.org@evil.net/", False), ("https://evil.net\\@example.org/", False),
    ("https://notall.net/", False), ("https://example.org\x00.evil.net/", False), ("https://ex\u00e4mple.org/", False), ("https://[::1", False),
    ("example.org", False), ("", False), (5, False), ("https://example.org:x/", False), ("https://example.org /", False),
])
def test_urls_are_read_strictly(url, good):
    registry.begin_run({"ok_urls": ["example.org", ".all.net"]}, None)
    try:
        if good:
            notebook.UrlPolicy()(None, [url], {}, None)
        else:
            with pytest.raises(PermissionError):
                notebook.UrlPolicy()(None, [url], {}, None)
    finally:
        registry.begin_run(None, None)


@pytest.mark.parametrize("answers, message", [
    ([None], None), ([...], None), ([None, "no"], "no"), ([..., "no", "never"], "no; never"), (["no", True], None), ([True, "no"], None),
    (["no", "no"], "no"), ([False], None),
])
def test_policies_add_up(answers, message):
    def decide():
        registry.decide([Says(answer) for answer in answers], registry.CallInfo("m", "f", (), {}), None, None)
    if message is None:
        decide()
    else:
        with pytest.raises(PermissionError) as caught:
            decide()
        assert str(caught.value) == message


@pytest.mark.parametrize("answer, message", [(True, None), (False, "no; never"), (None, "no; never"), (..., None), ("only", "never")])
def test_the_hook_has_three_answers(answer, message):
    def hook(info):
        return (... if info.message == "no" else None) if answer == "only" else answer
    registry.begin_run(None, hook)
    try:
        if message is None:
            registry.decide([Says("no"), Says("never")], registry.CallInfo("m", "f", (), {}), None, None)
        else:
            with pytest.raises(PermissionError, match=message):
                registry.decide([Says("no"), Says("never")], registry.CallInfo("m", "f", (), {}), None, None)
    finally:
        registry.begin_run(None, None)


@pytest.mark.parametrize("call", [("move", "outside", "here"), ("move", "here", "outside"), ("hardlink_to", "here", "outside"), ("hardlink_to", "outside", "here")])
def test_no_file_outside_is_moved_away_or_written_to_by_another_name(tmp_path, call):
    name, *ends = call
    (tmp_path / "inside").mkdir()
    places = {"here": tmp_path / "inside" / "here", "outside": tmp_path / "outside"}
    places[ends[0 if name == "move" else 1]].write_text("kept")
    owner, key = (shutil, "shutil") if name == "move" else (Path, "Path")
    allow({owner: [(name, registry.WRITE_POLICIES[key, name])]})
    one, other = (places[end] for end in ends)
    fn, args = (shutil.move, (str(one), str(other))) if name == "move" else (one.hardlink_to, (str(other),))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PermissionError, match="not allowed; permitted"):
        AllowChecked(fn, [str(tmp_path / "inside")])(*args)
    assert sorted(tmp_path.rglob("*")) == before
    AllowChecked(fn, [str(tmp_path)])(*args)
    assert sorted(tmp_path.rglob("*")) != before


LINKED = {  # what is done below ok/, where `out` leads out of it, and `deep/er/l` does not where it is
    "link": lambda ok: (ok / "new").symlink_to("../outside"),
    "link by an absolute path": lambda ok: (ok / "new").symlink_to(ok.parent / "outside"),
    "copy into a directory": lambda ok: shutil.copy(ok / "src/out", ok),
    "copy2 into a directory": lambda ok: shutil.copy2(ok / "src/out", dst=str(ok)),
    "move into a directory": lambda ok: shutil.move(str(ok / "src/out"), str(ok)),
    "copytree": lambda ok: shutil.copytree(ok / "src", ok, dirs_exist_ok=True),
    "copytree with links": lambda ok: shutil.copytree(ok / "deep/er", ok / "new", symlinks=True),
    "copy of a link": lambda ok: shutil.copy(ok / "deep/er/l", ok / "new", follow_symlinks=False),
    "rename a link": lambda ok: (ok / "deep/er/l").rename(ok / "new"),
    "replace a link": lambda ok: (ok / "deep/er/l").replace(ok / "new"),
    "rename what a link is in": lambda ok: (ok / "deep/er").rename(ok / "new"),
    "hard link of a link": lambda ok: (ok / "new").hardlink_to(ok / "deep/er/l"),
    "move a link": lambda ok: shutil.move(str(ok / "deep/er/l"), str(ok / "new")),
}


@pytest.mark.parametrize("do", list(LINKED.values()), ids=list(LINKED))
def test_nothing_is_written_through_links_that_code_has_made(tmp_path, do):
    ok = tmp_path / "ok"
    for folder in ("src", "deep/er", "outside"):
        (ok / folder).mkdir(parents=True)
    (tmp_path / "outside").write_text("kept")
    (ok / "src/out").write_text("owned")
    (ok / "out").symlink_to("../outside")
    (ok / "deep/er/l").symlink_to("../../outside")
    done, patch = [], pytest.MonkeyPatch()

    def checked(owner, key, name):
        real = getattr(owner, name)

        def call(*args, **kwargs):
            obj, rest = (args[0], args[1:]) if key == "Path" else (None, args)
            patch.undo()  # the functions call each other
            registry.WRITE_POLICIES[key, name](obj, rest, kwargs, [str(ok)])
            done.append(name)
            return real(*args, **kwargs)
        patch.setattr(owner, name, call)
    for key, name in registry.WRITE_POLICIES:
        if key != "builtins" and name in ("symlink_to", "hardlink_to", "rename", "replace", "copy", "copy2", "copytree", "move"):
            checked(Path if key == "Path" else shutil, key, name)
    with pytest.raises(PermissionError, match="not allowed"):
        do(ok)
    assert done == [] and (tmp_path / "outside").read_text() == "kept" and not (ok / "new").is_symlink() and not (ok / "new").exists()


def test_links_that_stay_inside_are_made_and_moved(tmp_path):
    ok = tmp_path / "ok"
    (ok / "a/b").mkdir(parents=True)
    (ok / "file").write_text("x")
    policies = registry.WRITE_POLICIES
    policies["Path", "symlink_to"](ok / "a/l", ["../file"], {}, [str(ok)])
    (ok / "a/l").symlink_to("../file")
    policies["Path", "rename"](ok / "a", [ok / "c"], {}, [str(ok)])
    policies["shutil", "move"](None, [str(ok / "a/l"), str(ok / "a/b")], {}, [str(ok)])
    policies["shutil", "copy"](None, [ok / "a/l", ok / "a/b"], {}, [str(ok)])
    policies["shutil", "copytree"](None, [ok / "a", ok / "new"], {"symlinks": True}, [str(ok)])


def test_a_text_in_the_place_of_a_list_is_one_name():
    """Its letters would be other names, which nobody has allowed or banned."""
    class Shop:
        def p(self): return "p"

        def price(self): return "price"
    allow({Shop: "price"})
    try:
        runner = RunPython(g={"shop": Shop()}, tree="base")
        assert asyncio.run(runner("shop.price()")) == "price"
        with pytest.raises(PermissionError):
            asyncio.run(runner("shop.p()"))
    finally:
        registry.unregister(Shop, "price", None)
