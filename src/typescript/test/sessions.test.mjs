import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { InputProblem, JobError, NotFound, Problem, SessionEnded, UsageError } from "hotcell";
import { BOUNDS, PLACE, gate, local, processes, remote } from "./common.mjs";

/** The line may come in parts, and this part of it once. */
const saysUp = (event) => event.event === "stdout" && event.text.startsWith("up");

async function session(t, options = {}, daemon = local()) {
    const made = await daemon.sessions.create({ ...BOUNDS, ...options });
    t.after(() => made.close());
    return made;
}

test("a session keeps its state, with inputs, files, events and a manifest at its end", async (t) => {
    for (const daemon of [local(), remote()]) {
        const s = await session(t, { vars: { x: 1 }, inputs: { "d:raw": { file: "d", content: Buffer.alloc(9 << 20) } } }, daemon);
        const heard = [];
        const run = await s.run("print('hello')\nx += n\nopen('/output/f', 'w').write('abc')\nx", { vars: { n: 41 }, onEvent: (e) => heard.push(e) });
        assert.deepEqual([run.value, run.text, run.run, run.state, run.ok], [42, "hello\n", 1, "kept", true]);
        assert.equal(await run.files[0].text(), "abc");
        assert.equal(Buffer.from(await s.file("f")).toString(), "abc");
        assert.equal(heard.filter((e) => e.event === "stdout").map((e) => e.text).join(""), "hello\n");
        assert.equal((await s.run("len(open(d, 'rb').read())")).value, 9 << 20);
        assert.equal((await daemon.sessions.get(s.id).run("x")).value, 42);
        assert.ok((await daemon.sessions.list()).some((each) => each.session_id === s.id));
        assert.equal((await s.info()).runs, 3);
        assert.deepEqual(await s.changes(), []);
        await s.close();
        assert.equal(s.manifest.status, "ok");
        await assert.rejects(s.run("x"), (error) => error instanceof SessionEnded && error.reason === "closed" && error.manifest.job_id === s.id);
    }
});

test("runs wait for their turn, and failures, limits and branches", async (t) => {
    const s = await session(t);
    const runs = await Promise.all(["x = 1", "x += 1", "x"].map((code) => s.run(code)));
    assert.equal(runs[2].value, 2);
    await s.checkpoint("two");
    await assert.rejects(s.run("x = 9\n1 / 0", { check: true }), JobError);
    await s.rollback("two");
    assert.equal((await s.run("x")).value, 2);
    await assert.rejects(s.rollback("none"), InputProblem);
    assert.equal((await s.run("while True: pass", { timeout: 1 })).status, "timeout");
    assert.equal((await s.run("x")).value, 2);
    const branches = await s.branch(["x += 10\nx", { program: "x += n\nx", vars: { n: 20 } }]);
    assert.deepEqual(branches.map((each) => [each.value, each.branch]), [[12, 1], [22, 2]]);
    await s.keep(2);
    assert.equal((await s.run("x")).value, 22);
    await assert.rejects(s.run("x", { limits: { timeout: "100h" } }), InputProblem);
    await assert.rejects(s.run("x", { memory: 1, seed: 1 }), Problem);
    await assert.rejects(s.run("x", { nonsense: 1 }), UsageError);
});

test("contexts are interpreters of their own, with the session's files", async (t) => {
    const s = await session(t);
    await s.run("x = 1\nopen('f', 'w').write('kept')");
    const b = await s.context({ name: "b", workdir: "/tmp" });
    const run = await b.run("import os\n[os.getcwd(), 'x' in globals(), open('/output/f').read()]");
    assert.deepEqual([b.name, b.workdir, run.value, run.context], ["b", "/tmp", ["/tmp", false, "kept"], "b"]);
    await b.run("x = 2");
    await b.checkpoint("p");
    assert.deepEqual([(await s.run("x")).value, (await s.run("x", { context: "b" })).value, (await s.run("x")).context], [1, 2, "main"]);
    const c = await s.context({ checkpoint: "p" });
    assert.deepEqual([c.name, (await c.run("x")).value], ["context-1", 2]);
    assert.deepEqual((await s.branch([{ program: "x += 1\nx", context: "b" }])).map((each) => each.value), [3]);
    await s.keep(0);
    await b.restart();
    assert.equal((await b.run("'x' in globals()")).value, false);
    await b.rollback("p");
    assert.equal((await b.run("x")).value, 2);
    await c.end();
    assert.deepEqual((await s.contexts()).map((each) => each.name), ["main", "b"]);
    for (const wrong of [() => c.run("1"), () => c.end(), () => c.restart(), () => s.checkpoint("q", { context: "none" })]) {
        await assert.rejects(wrong(), (error) => error instanceof NotFound && error.detail.startsWith("there is no context"));
    }
    for (const wrong of [() => s.context({ name: "b" }), () => s.context({ workdir: "/nowhere" }), () => s.contexts().then(([first]) => first.end())]) {
        await assert.rejects(wrong(), InputProblem);
    }
});

test("files of the working directory", async (t) => {
    const s = await session(t);
    const large = Buffer.alloc((4 << 20) + 5, "0123456789");
    writeFileSync(join(PLACE, "host.bin"), large);
    assert.deepEqual(await s.files.write("a/text", "äb").then(({ path, kind, bytes }) => [path, kind, bytes]), ["a/text", "file", 3]);
    assert.equal((await s.files.write("empty", "")).bytes, 0);
    assert.equal((await s.files.write("large", new URL(`file://${join(PLACE, "host.bin")}`))).bytes, large.length);
    assert.deepEqual(Buffer.from(await s.files.read("large")), large);
    assert.equal(Buffer.from(await s.files.read("large", { offset: 3, length: 4 })).toString(), "3456");
    assert.equal((await s.run("open('large').read() == '0123456789' * 419430 + '01234'[:5]\nlen(open('large').read())")).value, large.length);
    assert.deepEqual((await s.files.list()).map((file) => file.path), ["a", "empty", "large"]);
    assert.deepEqual((await s.files.list("a")).map((file) => [file.path, file.bytes]), [["a/text", 3]]);
    await s.files.remove("empty");
    await assert.rejects(s.files.stat("empty"), InputProblem);
    await assert.rejects(s.files.read("../x"), InputProblem);
});

test("tools and input of runs", async (t) => {
    const s = await session(t, { tools: { double: { call: ({ n }) => 2 * n } } });
    assert.equal((await s.run("tools.double(n=4)")).value, 8);
    const prompts = [];
    const lines = ["one", "two\n", null];
    const run = await s.run("a = [input('1> '), input()]\ntry:\n    input()\nexcept EOFError:\n    a.append('end')\na", { onInput: (prompt) => { prompts.push(prompt); return lines.shift(); } });
    assert.deepEqual([run.value, prompts], [["one", "two", "end"], ["1> ", "", ""]]);
    const failed = s.run("tools.double(n=1)\ninput()\nwhile True: pass", { onInput: () => { throw new Error("nobody is here"); } });
    await assert.rejects(failed, /nobody is here/);
    assert.equal((await s.run("tools.double(n=3)")).value, 6);
});

test("aborting a run interrupts it, and the session goes on", async (t) => {
    const s = await session(t);
    const [controller, up] = [new AbortController(), gate()];
    const run = s.run("kept = 5\nprint('up', flush=True)\nwhile True: pass", { signal: controller.signal, onEvent: (e) => e.event === "stdout" && up.open() });
    run.catch(up.open);
    await up.opened;
    const waiting = s.run("1", { signal: AbortSignal.any?.([controller.signal]) ?? controller.signal });
    controller.abort(new Error("stop it"));
    await assert.rejects(run, /stop it/);
    await assert.rejects(waiting, /stop it/);
    assert.equal((await s.run("6 * 7")).value, 42);
    const other = s.run("print('up', flush=True)\nwhile True: pass", { onEvent: (e) => saysUp(e) && s.interrupt() });
    assert.equal((await other).error.type, "KeyboardInterrupt");
});

test("a run can be aborted at any moment", async (t) => {
    const s = await session(t);
    const begun = Date.now();
    for (let turns = 0; turns < 30; turns += 3) {
        const controller = new AbortController();
        const run = s.run("while True: pass", { signal: controller.signal });
        for (let i = 0; i < turns; i++) {
            await new Promise(setImmediate);
        }
        controller.abort(new Error("stop it"));
        await assert.rejects(run, /stop it/);
        assert.equal((await s.run("6 * 7")).value, 42);
    }
    assert.ok(Date.now() - begun < 1000 * BOUNDS.timeout, "no run has lasted to its time limit");
});

test("a session that is killed has ended, whoever did it", async (t) => {
    const cancelled = await session(t);
    await local().job(cancelled.id).cancel();
    while ((await cancelled.info()).state !== "ended");
    await assert.rejects(cancelled.run("1"), (error) => error instanceof SessionEnded && error.reason === "cancelled");
    const before = new Set(processes("session"));
    const killed = await session(t);
    const [pid, ...others] = processes("session").filter((each) => !before.has(each));
    assert.equal(others.length, 0);
    const run = killed.run("print('up', flush=True)\nwhile True: pass", { onEvent: (e) => saysUp(e) && process.kill(pid, "SIGKILL") });
    await assert.rejects(run, (error) => error instanceof SessionEnded && error.reason === "lost");
    await assert.rejects(killed.checkpoint("c"), SessionEnded);
    await assert.rejects(killed.files.list(), SessionEnded);
});

test("sessions that there are not", async () => {
    await assert.rejects(local().sessions.get("nobody").run("1"), NotFound);
    assert.throws(() => local().sessions.get("a/b"), NotFound);
    await assert.rejects(local().sessions.create({ ...BOUNDS, policy: "there-is-none" }), Problem);
});
