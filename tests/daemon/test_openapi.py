"""The OpenAPI document that hotcelld serves: its paths are those of the daemon's table of routes, no more and no less, and each is answered
as it says. (Every answer that tests get is held against it: daemons.check_answer.)"""

import json
import re

import cells
import daemons
import jsonschema
import pytest

ROUTES = re.findall(r'^    \{"([A-Z]+)", "([^"]+)", \w+, \.kind = HC_ROUTE_(\w+)(?:,\s+\.query = "([\w ]+)")?[^}]*\},$',
                    (daemons.SOURCE / "daemon" / "http" / "routes.c").read_text(), re.M)
NOBODY = "20260101T000000Z-00000000000000000000"  # as ids look


@pytest.fixture(name="daemon", scope="module")
def module_daemon(base_tree):
    user = cells.ordinary()
    cells.need_cells(user)
    policies = cells.new_directory(user)  # a user need not have the tree that the shipped policy names
    shipped = daemons.SOURCE.parent / "policies" / "default.json"
    (policies / "default.json").write_text(json.dumps({"name": "default", "extends": str(shipped), "tree": str(base_tree)}))
    with daemons.Daemon(user, config={"workers": 1}, env={"HOTCELL_POLICIES": str(policies)}) as d:
        yield d
        assert d.end() == 0, d.log


def operations():
    for path, item in daemons.openapi()["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield method.upper(), path, operation, item.get("parameters", []) + operation.get("parameters", [])


def as_route(path):
    return re.sub(r"\{(path|call)\}$", "{rest}", path.replace("{name}", "{id}"))


def test_every_route_is_in_the_document_and_the_other_way_round():
    routes = [(method, path) for method, path, _, _ in ROUTES]
    assert len(routes) == len(set(routes)) > 20
    assert set(routes) == {(method, as_route(path)) for method, path, _, _ in operations()}


def test_each_says_what_it_takes_and_whom_it_is_for():
    kinds = {(method, path): kind for method, path, kind, _ in ROUTES}
    queries = {(method, path): set(query.split()) for method, path, _, query in ROUTES}
    for method, path, operation, parameters in operations():
        kind = kinds[method, as_route(path)]
        assert ("requestBody" in operation) == (kind in ("BODY", "ORDER", "PART")), (method, path)
        assert (operation.get("security") == [{}]) == (kind == "OPEN"), (method, path)
        assert {"401", "403", "429"} <= set(operation["responses"]) or kind == "OPEN", (method, path)
        assert {"400", "413", "431"} <= set(operation["responses"]), (method, path)
        named = {p["name"] for p in map(daemons.resolved, parameters) if p["in"] == "path"}
        assert named == set(re.findall(r"\{(\w+)\}", path)), (method, path)
        assert {p["name"] for p in map(daemons.resolved, parameters) if p["in"] == "query"} == queries[method, as_route(path)], (method, path)
    ids = [operation["operationId"] for _, _, operation, _ in operations()]
    assert len(ids) == len(set(ids))


def test_references_lead_somewhere_and_schemas_are_schemas():
    def walk(node):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                daemons.resolved(node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)
    walk(daemons.openapi())
    for schema in daemons.openapi()["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_each_operation_is_answered_by_whoever_it_is_for(daemon):
    """By its handler, and not as a path or method that there is not."""
    for method, path, operation, _ in operations():
        place = path.format(id=NOBODY, path="a/b", call="1", name="default", command="c1", context="main")
        body = b"{}" if "requestBody" in operation else None
        answer = daemon.request(method, place, body, {"Content-Type": "application/json"})
        assert answer.status < 500 and "there is nothing at" not in answer.body.decode(), (method, path, answer)
        assert str(answer.status) in operation["responses"], (method, path, answer)


def test_what_every_operation_refuses(daemon):
    for method, path, operation, _ in operations():
        place = path.format(id=NOBODY, path="a/b", call="1", name="default", command="c1", context="main")
        assert daemon.request(method, place, headers={"X": "y" * 20000}).status == 431, (method, path)
        assert daemon.request(method, place, headers={"X": "y", "X\t": "z"}).status == 400, (method, path)
        answer = daemon.request(method, f"{place}?stat=done", b"{}" if "requestBody" in operation else None, {"Content-Type": "application/json"})
        assert answer.status == 400 and answer.json["retry"] == "not_started" and "'stat'" in answer.json["detail"], (method, path, answer)
    for path, item in daemons.openapi()["paths"].items():
        answer = daemon.request("PROPFIND", path.format(id=NOBODY, path="a/b", call="1", name="default", command="c1", context="main"))
        assert answer.status == 405 and answer.json["retry"] == "not_started", (path, answer)
        there = {method.upper() for method in item if method != "parameters"}
        assert set(answer.headers["Allow"].split(", ")) - {"HEAD"} == there, (path, answer)


@pytest.mark.parametrize("query, detail", [
    ("stat=done", "/v1/card takes the parameter 'policy', and no other: 'stat'"), ("policy=default&x", "/v1/card takes the parameter 'policy', and no other: 'x'"),
    ("policy", "/v1/card: expected one value of the parameter 'policy'"), ("policy=default&policy=none", "/v1/card: expected one value of the parameter 'policy'"),
    ("p%00=1", "the path or its parameters have a zero byte (%00)"), ("%22%0a=1", "/v1/card takes the parameter 'policy', and no other: '\"\n'"),
    ("%ff=1", "/v1/card takes the parameter 'policy', and no other: '")])
def test_parameters_that_there_are_not_are_not_ignored(daemon, query, detail):
    """What filters nothing must not look as if it did."""
    answer = daemon.get(f"/v1/card?{query}")
    assert (answer.status, answer.json["detail"]) == (400, detail)


def test_parameters_that_there_are(daemon):
    assert daemon.get("/v1/card?policy=default").status == daemon.get("/v1/card?").status == daemon.get("/v1/jobs?").status == 200
