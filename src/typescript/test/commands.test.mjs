import assert from "node:assert/strict";
import { test } from "node:test";

import { BOUNDS, local } from "./common.mjs";

const SHELL = { ...BOUNDS, tree: "shell", policy: "commands" };

test("a command is a list of its arguments, in jobs and in sessions", async () => {
    const result = await local().run(["sh", "-c", "cat; echo \"$1 $E\" >&2; exit 3", "name", "an argument"], { ...SHELL, input: "in", env: { E: "e" } });
    assert.deepEqual([result.text, result.stderr.text, result.commandStatus], ["in", "an argument e\n", 3]);
    const job = await local().submit(["echo", "later"], SHELL);
    assert.equal((await job.result()).text, "later\n");
    const session = await local().sessions.create(SHELL);
    await session.run(["sh", "-c", "echo kept > f"]);
    const run = await session.run(["cat", "f"]);
    assert.deepEqual([run.text, run.commandStatus], ["kept\n", 0]);
    await session.close();
});

test("a policy without commands refuses them, and Python has no status of a command", async () => {
    const refused = await local().run(["echo"], BOUNDS);
    assert.deepEqual([refused.status, refused.commandStatus], ["rejected", undefined]);
    assert.match(refused.rejection.message, /command/i);
    assert.equal((await local().run("1", BOUNDS)).commandStatus, undefined);
});
