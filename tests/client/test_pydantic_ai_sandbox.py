"""The sandbox of Pydantic AI and its tool of code mode: real cells, against a stub of the framework."""

import asyncio
import dataclasses

import cells
import frameworks
import pytest

PYTHON = {"binary": cells.HOTCELL, "tree": "base"}


@dataclasses.dataclass(frozen=True)
class SandboxRef:
    sandbox_id: str


class SandboxTimeoutError(TimeoutError):
    pass


def test_a_sandbox_of_pydantic_ai_runs_commands_and_has_files(monkeypatch, shell_tree):
    stub = frameworks.module("pydantic_ai.sandboxes", SandboxRef=SandboxRef, SandboxTimeoutError=SandboxTimeoutError)
    module = frameworks.load(monkeypatch, "pydantic_ai", stub)

    async def work():
        box = module.HotcellSandbox(**frameworks.OPTIONS)
        assert box.ref is None and box.provider == "hotcell"
        # It begins with its first use, once, also if there are two of these.
        first, second = await asyncio.gather(box.run(["echo", "a  b"]), box.run("echo $W | tr w W; pwd; exit 3", shell=True, cwd="/tmp", env={"W": "w"}))
        assert (first.exit_code, first.stdout) == (0, "a  b\n") and (second.exit_code, second.stdout) == (3, "W\n/tmp\n")
        assert box.ref == SandboxRef(box.sandbox_id) and await box.working_dir() == "/output"
        for command, shell in (("echo a", False), (["echo", "a"], True)):
            with pytest.raises(TypeError, match="shell=True"):
                await box.run(command, shell=shell)
        with pytest.raises(SandboxTimeoutError):
            await box.run(["sleep", "60"], timeout=0.3)
        cut = await box.run("printf 12345; printf abcde >&2", shell=True, output_limit=7)
        assert cut == module.CommandResult(0, "45", "abcde", 3, 0)
        with pytest.raises(NotImplementedError):
            await box.start(["true"])
        assert await box.resolve("../x/./y") == "/x/y" and await box.resolve("y", base="/b") == "/b/y"
        await files(box.fs, module.FileEntry)
        await box.close()

    async def files(fs, entry):
        await fs.write_bytes("/output/d/e/a.bin", b"\xff\0")
        await fs.write_text("/output/d/t.txt", "é")
        assert await fs.read_bytes("/output/d/e/a.bin") == b"\xff\0" and await fs.read_text("/output/d/t.txt") == "é"
        assert await fs.list_dir("/output/d") == [entry("e", "/output/d/e", True), entry("t.txt", "/output/d/t.txt", False, 2)]
        assert await fs.stat("/output/d/t.txt") == entry("t.txt", "/output/d/t.txt", False, 2) and (await fs.stat("/")).is_dir
        await fs.make_dir("/output/m/n")
        await fs.remove("/output/d")
        assert [await fs.exists(path) for path in ("/output/m/n", "/output/d", "/output/d/e/a.bin")] == [True, False, False]
        for call in (fs.read_bytes, fs.stat, fs.remove, fs.list_dir):
            with pytest.raises(FileNotFoundError):
                await call("/output/none")
    asyncio.run(work())


def test_the_tool_of_code_mode_keeps_variables_until_it_is_restarted(base_tree):
    from hotcell.adapters.pydantic_ai_code import CodeTool
    with CodeTool({"price": lambda item: {"tea": 2.5}[item]}, **PYTHON) as code:
        assert code.run_code("total = 4 * price('tea')\nprint('counted')\ntotal") == "counted\n10.0\n"
        assert code.run_code("total") == "10.0\n"
        assert "KeyError: 'cake'" in code.run_code("price('cake')")
        assert "NameError" in code.run_code("total", restart=True)
