"""What a policy redacts and cuts of a program's output, as callers see it."""

import json

import pytest

import cells


PEM = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA\\n-----END RSA PRIVATE KEY-----"


def policy(directory, **sections):
    path = directory / "policy.json"
    path.write_text(json.dumps({"extends": "default", **sections}))
    return str(path)


@pytest.mark.parametrize("text, shown", [
    ("the api_key = abc123 x", "the api_key=<REDACTED> x"),
    ("my Password: hunter2!", "my Password=<REDACTED>"),
    ("my aws_secret_access_key wJalrXUt x", "my aws_secret_access_key=<REDACTED> x"),
    ("at postgres://user:pw@db/x y", "at postgres://<REDACTED>@<REDACTED> y"),
    ("a eyJhbGci.eyJzdWIi.SflKxw b", "a <JWT_REDACTED> b"),
    (f"a {PEM} b", "a <PRIVATE_KEY_REDACTED> b"),
])
def test_secrets_are_replaced_wherever_they_appear(text, shown):
    result = cells.run(f'import sys; print("{text}"); print("{text}", file=sys.stderr)\n"{text}"', policy="charts")
    assert result.manifest["stdout"]["text"] == result.stdout == shown + "\n"
    assert result.manifest["stderr"]["text"] == shown + "\n"
    assert result.stderr == shown + "\n"
    assert result.manifest["stdout"]["redactions"] >= 1
    assert shown in result.manifest["guest"]["value"]["text/plain"]


def test_a_secret_in_pieces_is_replaced_too():
    code = """
        import os
        for byte in b"x token=s3cret-42 y \\xff\\xfe\\n":
            os.write(1, bytes([byte]))
    """
    result = cells.run(code, policy="charts")
    assert result.manifest["stdout"]["text"] == "x token=<REDACTED> y \ufffd\ufffd\n"


def test_environment_lines_lose_their_value_and_end_after_ten():
    code = """
        for i in range(15):
            print(f"NAME_{i}=value{i}")
        print("between")
        print("LAST=value")
    """
    result = cells.run(code, policy="charts")
    lines = [f"NAME_{i}=<REDACTED>" for i in range(10)] + ["between", "LAST=<REDACTED>"]
    assert result.stdout.splitlines() == lines
    assert result.manifest["stdout"]["redactions"] == 16


def test_output_ends_after_2000_characters():
    result = cells.run("print('é' * 2001, end='')", policy="charts")
    assert result.manifest["stdout"]["text"] == "é" * 2000 + "\n... [OUTPUT TRUNCATED FOR SECURITY]"
    assert result.manifest["stdout"]["truncated"] is True
    exact = cells.run("print('é' * 2000, end='')", policy="charts")
    assert exact.manifest["stdout"]["text"] == "é" * 2000
    assert exact.manifest["stdout"]["truncated"] is False


def test_what_the_launcher_says_is_redacted():
    result = cells.run("raise ValueError('password=hunter2')", policy="charts")
    assert "hunter2" not in json.dumps(result.manifest) + result.stderr + result.stdout
    assert result.manifest["guest"]["error"]["message"] == "password=<REDACTED>"


def test_a_key_that_the_limit_cuts_is_not_shown(tmp_path):
    code = f'print("before " + "{PEM}".replace("MIIE", "MIIE" * 100))'
    result = cells.run(code, "--stdout-size", "100", policy="charts")
    assert result.manifest["stdout"]["text"] == "before <REDACTED>"
    assert result.manifest["stdout"]["truncated"] is True


def test_a_pattern_that_takes_too_long_shows_nothing(tmp_path):
    slow = policy(tmp_path, redact={"rules": [{"name": "slow", "pattern": "(?:x+x+)+y", "replace": "-"}]})
    result = cells.run("print('x' * 2000 + '!')\nprint('after')", policy=slow)
    assert result.stdout == "<REDACTED>\nafter\n"
    assert any("took too long" in warning for warning in result.manifest["warnings"])


def test_a_bad_pattern_is_named(tmp_path):
    bad = policy(tmp_path, redact={"rules": [{"name": "half", "pattern": "a(b", "replace": ""}]})
    expected = "redact.rules: 'half': bad pattern at offset 3: missing closing parenthesis"
    result = cells.run("print(1)", policy=bad)
    assert result.status == 78
    assert expected in result.stderr
    checked = cells.hotcell("policy", "check", bad)
    assert checked.returncode == 78
    assert expected in checked.stderr


def test_truncated_output_ends_with_a_note():
    result = cells.run("print('é' * 200_000)", policy="analysis")
    text = result.manifest["stdout"]["text"]
    assert text == "é" * 100_000 + "\n\n[Output truncated at 200000 bytes]"
    assert result.manifest["stdout"] == {"text": text, "bytes": 400_001, "truncated": True, "redactions": 0}
    assert result.stdout == text


def test_both_ends_are_kept(tmp_path):
    ends = policy(tmp_path, truncation={"keep": "ends", "note": "\n[{bytes} bytes left out]\n"})
    code = "print('begin ' + 'é' * 500_000 + ' end')"
    result = cells.run(code, "--stdout-size", "1000", policy=ends)
    text = result.manifest["stdout"]["text"]
    begin, note, end = text.split("\n", 2)
    assert begin.startswith("begin é") and end.endswith("é end\n")
    left_out = 1_000_011 - len(begin.encode()) - len(end.encode())
    assert note == f"[{left_out} bytes left out]"
    assert 996 <= len(begin.encode()) + len(end.encode()) <= 1000
    assert result.stdout == text
