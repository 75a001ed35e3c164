"""Man pages and schemas have each row of hotcell's tables (src/facts): what can be set and said is also what is documented."""

import json
import re
import subprocess
import sys

import cells
import daemons
import pytest

FILL = daemons.SOURCE / "facts" / "fill.py"
FACTS = cells.BUILD / "gen" / "facts.json"
TEMPLATES = [path for path in daemons.SOURCE.rglob("*.in")]


@pytest.fixture(name="rows", scope="module")
def rows_of_tables():
    return json.loads(FACTS.read_text(encoding="utf-8"))


def page(name):
    return (cells.BUILD / "man" / name).read_text(encoding="utf-8")


def test_each_option_is_in_hotcell_1_and_each_field_in_hotcell_policy_5(rows):
    for row in rows["options"]:
        assert re.search(rf"^\.It Fl (\w , )?-{row['flag']} Ar ", page("hotcell.1"), re.M), row
        assert f"\n.It Sy {row['name']} No = Ar " in page("hotcell-policy.5"), row
        assert row["text"] in page("hotcell.1").replace("\n", " "), row


def test_each_rule_of_the_guard_is_in_hotcell_policy_5(rows):
    items = re.findall(r"^\.It Cm (\S+) \. Ns Cm (\S+) :", page("hotcell-policy.5"), re.M)
    assert items == [(row["section"], row["name"]) for row in rows["rules"]]


def test_each_option_of_the_daemon_is_in_hotcelld_conf_5(rows):
    for row in [*rows["config"], *rows["quotas"]]:
        assert f"\n.It Sy {row['name']} No = Ar " in page("hotcelld.conf.5"), row


def test_no_marker_is_left():
    for path in [*(cells.BUILD / "man").iterdir(), cells.BUILD / "manifest.schema.json", cells.BUILD / "gen" / "openapi.json"]:
        assert not re.search(r"^@[A-Z_]+@$", path.read_text(encoding="utf-8"), re.M), path


@pytest.mark.parametrize("text", ["@OPTION@\n", "a\n@LIMIT@\nb\n"])
def test_a_marker_that_nobody_knows_ends_the_build(tmp_path, text):
    template = tmp_path / "page.in"
    template.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", FILL, FACTS, template], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "there is no part @" in done.stderr and not done.stdout


def test_each_part_has_its_place():
    texts = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    known = set(re.findall(r'^        "([A-Z_]+)": ', FILL.read_text(encoding="utf-8"), re.M))
    assert len(known) > 20 and known | {"MANIFEST"} == set(re.findall(r"^@(?!MEASURED_|OTHER_)([A-Z_]+)@$", texts, re.M))  # those two: test_bench_page.py
