"""The OpenAPI document of hotcelld with the tools of others: two validators, and a client in TypeScript whose types are made of it."""

import os
import subprocess
from pathlib import Path

import cells
import npm
import pytest

SOURCE = Path(__file__).resolve().parents[1] / "openapi"


@pytest.fixture(name="tools", scope="module")
def module_tools():
    return npm.installed(SOURCE, "openapi-tools")


def use(tools, *command):
    done = subprocess.run([str(each) for each in command], cwd=tools, capture_output=True, text=True, check=False, timeout=cells.PATIENCE,
                          env={**os.environ, "REDOCLY_TELEMETRY": "off"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_redocly_finds_nothing_but_that_it_is_for_this_host(tools):
    said = use(tools, "node_modules/.bin/redocly", "lint", cells.BUILD / "gen" / "openapi.json")
    assert "You have 1 warning." in said and "no-server-example.com" in said, said


def test_swagger_parser_finds_it_valid(tools):
    assert use(tools, "node", "check.mjs", cells.BUILD / "gen" / "openapi.json").startswith("valid: ")


def test_a_client_in_typescript_has_the_types_of_results_and_events(tools):
    use(tools, "node_modules/.bin/openapi-typescript", cells.BUILD / "gen" / "openapi.json", "-o", "api.d.ts")
    use(tools, "node_modules/.bin/tsc", "--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "client.ts")
