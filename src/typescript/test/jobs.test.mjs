import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { DaemonLost, HotcellError, InputError, InputProblem, JobError, NotFound, PolicyProblem, Repr, UsageError } from "hotcell";
import { BOUNDS, PLACE, URL_PLAIN, gate, local, remote } from "./common.mjs";

const FOREVER = "import time\nprint('up', flush=True)\nwhile True: time.sleep(1)";

test("a program's output, value, variables, standard input, arguments and files come back", async () => {
    const code = "import sys, os\nprint(sys.stdin.read(), sys.argv[1:], os.environ['E'], n)\nopen('/output/f ä%.txt', 'w').write('content')\nx = {1, 2}\nn * 2";
    const heard = [];
    const result = await local().run(code, { ...BOUNDS, input: "in", args: ["a"], env: { E: "e" }, vars: { n: 21 }, returns: ["x"], labels: { by: "me" }, onEvent: (e) => heard.push(e) });
    assert.equal(result.text, "in ['a'] e 21\n");
    assert.equal(result.value, 42);
    assert.deepEqual(await result.returned("x"), new Set([1, 2]));
    await assert.rejects(result.returned("y"), HotcellError);
    assert.deepEqual(result.files.map((file) => file.path), ["f ä%.txt"]);
    assert.equal(await result.files[0].text(), "content");
    assert.equal(result.file("f ä%.txt").bytes, 7);
    assert.deepEqual([result.ok, result.status, result.reason, result.error], [true, "ok", null, null]);
    assert.deepEqual(result.manifest.labels, { by: "me" });
    assert.equal(heard.filter((e) => e.event === "stdout").map((e) => e.text).join(""), result.text);
});

test("inputs are paths, URLs, bytes, texts under names of files, and bytes that come bit by bit", async () => {
    const path = join(PLACE, "in.txt");
    await new Promise((resolve) => createWriteStream(path).end("from a file", resolve));
    async function* bits() {
        yield Buffer.from("bit ");
        yield Buffer.from("by bit");
    }
    const inputs = {
        "a:raw": path, "b:raw": new URL(`file://${path}`), "c:raw": new Uint8Array([0, 255]), "d:raw": { file: "d.csv", content: "x,y\n" },
        "e:raw": { file: "e.bin", content: bits() },
    };
    const result = await local().run("[open(p, 'rb').read() for p in (a, b, c, d, e)]", { ...BOUNDS, inputs });
    assert.deepEqual(result.value.map((bytes) => Buffer.from(bytes).toString("latin1")), ["from a file", "from a file", "\0ÿ", "x,y\n", "bit by bit"], result.manifest.reason);
    await assert.rejects(local().run("1", { ...BOUNDS, inputs: { a: join(PLACE, "nothing") } }), InputError);
    const { uploads } = await (await import("./raw.mjs")).get("/v1/uploads");
    assert.deepEqual(uploads, []);
});

test("a file of 100 MB goes in and comes out, by its path, in parts", async () => {
    const path = join(PLACE, "big.bin");
    const block = Buffer.alloc(1 << 20, "0123456789abcdef");
    const [hash, file] = [createHash("sha256"), createWriteStream(path)];
    for (let i = 0; i < 100; i++) {
        block.writeUInt32LE(i, 0);
        hash.update(block);
        await new Promise((resolve) => file.write(Buffer.from(block), resolve));
    }
    await new Promise((resolve) => file.end(resolve));
    const sha256 = hash.digest("hex");
    const code = "import hashlib, shutil\nshutil.copyfile(d, '/output/copy.bin')\nhashlib.sha256(open(d, 'rb').read()).hexdigest()";
    for (const daemon of [local(), remote()]) {
        const result = await daemon.run(code, { ...BOUNDS, inputs: { "d:raw": path }, limits: { output: "200M", file: "200M" } });
        assert.equal(result.value, sha256, result.reason);
        const copy = result.file("copy.bin");
        assert.deepEqual([copy.bytes, copy.sha256], [100 << 20, sha256]);
        const got = createHash("sha256");
        for await (const part of copy.stream()) {
            got.update(part);
        }
        assert.equal(got.digest("hex"), sha256);
        assert.equal((await copy.read()).length, 100 << 20);
        await daemon.job(result.jobId).delete();
    }
});

test("a job of submit goes on by itself; the same key stands for the same job, large inputs too", async () => {
    const daemon = local();
    const options = { ...BOUNDS, key: "once", inputs: { "d:raw": { file: "d", content: Buffer.alloc(9 << 20, "x") } } };
    const [one, two] = [await daemon.submit("len(open(d).read())", options), await daemon.submit("len(open(d).read())", options)];
    assert.equal(one.id, two.id);
    assert.equal((await one.result()).value, 9 << 20);
    assert.equal((await daemon.job(one.id).info()).state, "done");
    assert.ok((await daemon.jobs({ number: 5, state: "done" })).some((job) => job.job_id === one.id));
    await assert.rejects(daemon.submit("another", options), (error) => error instanceof InputProblem && error.status === 409);
    await one.delete();
    await assert.rejects(one.info(), NotFound);
    await assert.rejects(daemon.job("../x").info(), NotFound);
});

test("programs that fail are results, and errors with check", async () => {
    const failed = await local().run("print('so far')\n1 / 0", BOUNDS);
    assert.deepEqual([failed.status, failed.error.type, failed.error.line, failed.text], ["error", "ZeroDivisionError", 2, "so far\n"]);
    await assert.rejects(local().run("1 / 0", { ...BOUNDS, check: true }), (error) => error instanceof JobError && error.result.status === "error" && /ZeroDivisionError/.test(error.message));
    const late = await local().run(FOREVER, { ...BOUNDS, timeout: 1 });
    assert.deepEqual([late.status, late.ok, late.text], ["timeout", false, "up\n"]);
});

test("requests that are wrong are refused before and by the daemon", async () => {
    await assert.rejects(local().run("1", { ...BOUNDS, timeot: 1 }), (error) => error instanceof UsageError && /timeot/.test(error.message));
    for (const value of [NaN, 1n, new Map(), () => 1, Buffer.from("x"), new Uint8Array(1), [Infinity]]) {
        await assert.rejects(local().run("x", { ...BOUNDS, vars: { x: value } }), InputError);
    }
    await assert.rejects(local().run("1", { ...BOUNDS, policy: "there-is-none" }), (error) => error instanceof PolicyProblem && error.title !== "" && error.retry === "not_started" && error.message === error.detail);
    await assert.rejects(local().run("1", { ...BOUNDS, memory: "128G" }), (error) => error instanceof PolicyProblem && error.limits[0].limit === "limits.memory");
    const large = `x = '${"x".repeat(70 << 20)}'`;
    await assert.rejects(local().run(large, BOUNDS), (error) => error instanceof InputProblem && error.status === 413);
});

test("two clients at once have their own jobs", async () => {
    const values = await Promise.all([local(), remote(), local(), remote()].map(async (daemon, n) => (await daemon.run(`print(${n})\n${n} * 10`, BOUNDS)).value));
    assert.deepEqual(values, [0, 10, 20, 30]);
});

test("aborting run ends the job, over the socket and over TCP", async () => {
    for (const daemon of [local(), remote()]) {
        const [controller, reason, known] = [new AbortController(), new Error("enough"), gate()];
        const run = daemon.run(FOREVER, { ...BOUNDS, signal: controller.signal, labels: { which: "aborted" }, onEvent: (e) => e.event === "stdout" && known.open() });
        run.catch(known.open);
        await known.opened;
        const [job] = await daemon.jobs({ number: 1 });
        controller.abort(reason);
        await assert.rejects(run, (error) => error === reason);
        for await (const _ of daemon.job(job.job_id).events());
        assert.notEqual((await daemon.job(job.job_id).info()).status, "ok");
        assert.ok(["killed", "cancelled"].includes((await daemon.job(job.job_id).info()).status));
    }
    const before = AbortSignal.abort(new Error("before"));
    await assert.rejects(local().run("1", { ...BOUNDS, signal: before }), /before/);
    await assert.rejects(local().health({ signal: before }), /before/);
});

test("a listener that throws ends the job", async () => {
    await assert.rejects(remote().run(FOREVER, { ...BOUNDS, onEvent: (e) => { if (e.event === "stdout") { throw new Error("no more"); } } }), /no more/);
    const [job] = await remote().jobs({ number: 1 });
    for await (const _ of remote().job(job.job_id).events());
    assert.ok(["killed", "cancelled"].includes((await remote().job(job.job_id).info()).status));
});

test("cancel ends a job, and aborting the wait for one does not", async () => {
    const daemon = local();
    const job = await daemon.submit(FOREVER, BOUNDS);
    const controller = new AbortController();
    const waits = job.result({ signal: controller.signal, onEvent: (e) => e.event === "stdout" && controller.abort(new Error("not now")) });
    await assert.rejects(waits, /not now/);
    assert.equal((await job.info()).state, "running");
    const end = job.result();
    await job.cancel();
    assert.equal((await end).status, "killed");
    await assert.rejects(job.file("nothing"), NotFound);
});

test("events go on behind the last one when the connection breaks", async (t) => {
    const sockets = new Set();
    const { hostname, port } = new URL(URL_PLAIN);
    let connections = 0;
    const relay = net.createServer((client) => {
        connections++;
        const daemon = net.connect(Number(port), hostname);
        for (const [one, other] of [[client, daemon], [daemon, client]]) {
            sockets.add(one);
            one.pipe(other);
            one.on("error", () => other.destroy());
        }
    });
    await new Promise((resolve) => relay.listen(0, "127.0.0.1", resolve));
    t.after(() => { relay.close(); sockets.forEach((socket) => socket.destroy()); });
    const [go, heardAll] = [gate(), gate()];
    const tools = { go: { call: () => go.opened }, stay: { call: () => heardAll.opened } };
    const job = await remote().submit("print('a', flush=True)\ntools.go()\nprint('b', flush=True)\ntools.stay()", { ...BOUNDS, tools });
    const result = job.result();
    const events = remote(`http://127.0.0.1:${relay.address().port}`).job(job.id).events();
    const heard = [];
    let said = "";
    for await (const event of events) {
        heard.push(event);
        said += event.event === "stdout" ? event.text : "";
        if (event.event === "stdout" && said === "a\n") {
            sockets.forEach((socket) => socket.destroy());
            go.open();
        } else if (said === "a\nb\n") {
            heardAll.open();
        }
    }
    assert.equal(said, "a\nb\n", `${JSON.stringify(heard.map((e) => [e.event, e.text]))} ${connections}`);
    assert.deepEqual(heard.map((e) => e.event).filter((name) => name === "manifest" || name === "gap"), ["manifest"]);
    assert.ok(connections >= 2);
    assert.equal(events.lastEventId, "end");
    assert.equal((await result).ok, true);
    const again = [];
    for await (const event of job.events({ lastEventId: "end" })) {
        again.push(event);
    }
    assert.deepEqual(again, []);
});

test("events give up when the daemon does not come back", async (t) => {
    const relay = net.createServer((client) => client.destroy());
    await new Promise((resolve) => relay.listen(0, "127.0.0.1", resolve));
    t.after(() => relay.close());
    const events = remote(`http://127.0.0.1:${relay.address().port}`).job("x").events({ retries: 1 });
    await assert.rejects((async () => { for await (const _ of events); })(), DaemonLost);
});

test("tools are answered, and their failures are the program's ToolErrors", async () => {
    const tools = {
        double: { description: "Twice.", parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false }, call: ({ n }) => 2 * n },
        fail: { call: () => { throw new TypeError("not today"); } },
        odd: { call: () => 1n },
        large: { resultSize: 100, call: () => "x".repeat(200) },
        nothing: { call: () => undefined },
        huge: { call: () => 1e20 },
    };
    const code = `
def said(f, **k):
    try:
        return f(**k)
    except Exception as e:
        return str(e)
[tools.double(n=21), said(tools.fail), said(tools.odd), said(tools.large), tools.nothing(), said(tools.double, n='x'), tools.huge()]`;
    const result = await local().run(code, { ...BOUNDS, tools });
    const [double, fail, odd, large, nothing, refused, huge] = result.value;
    assert.deepEqual([double, nothing, Number(huge)], [42, null, 1e20]);
    assert.match(fail, /TypeError: not today/);
    assert.match(odd, /bigint/);
    assert.match(large, /202 bytes, and result_size is 100/);
    assert.match(refused, /n/);
    assert.equal(result.toolErrors.length, 3);
    assert.ok(result.toolErrors[0] instanceof TypeError);
});

test("values of Python", async () => {
    const code = `
import datetime, decimal, uuid, zoneinfo
from datetime import timezone, timedelta
class C:
    def __repr__(self): return 'a C'
{'ints': [0, -1, 2**53 - 1, 2**53 + 1, -2**63, 2**200, -2**200], 'floats': [0.5, -0.0, 1e300, float('inf')],
 'texts': ['', 'ä€😀', 'a\\0b', '\\ud800x', '12345678901234567890', '"\\\\'], 'tuple': (1, (2,)), 'set': {1, 'a'}, 'frozen': frozenset({2}),
 'dict': {1: 2, None: 3}, 'bytes': bytes(range(256)), 'array': bytearray(b'ab'), 'none': None, 'truth': [True, False], '__proto__': 1,
 'dates': [datetime.date(1, 1, 1), datetime.datetime(2024, 1, 2, 3, 4, 5, 678900), datetime.datetime(2024, 1, 2, tzinfo=timezone.utc),
           datetime.datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=-3))), datetime.datetime(1969, 12, 31, 23, 59, 59, 500000)],
 'delta': timedelta(days=-1, milliseconds=5), 'uuid': uuid.UUID(int=5), 'decimal': decimal.Decimal('1.10'), 'complex': 1j, 'range': range(1, 5, 2)}`;
    const { value } = await local().run(code, BOUNDS);
    assert.deepEqual(value.ints, [0, -1, 2 ** 53 - 1, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 200n, -(2n ** 200n)]);
    assert.deepEqual(value.floats, [0.5, -0, 1e300, Infinity]);
    assert.deepEqual(value.texts, ["", "ä€😀", "a\0b", "\ud800x", "12345678901234567890", '"\\']);
    assert.deepEqual([value.tuple, value.set, value.frozen, value.dict], [[1, [2]], new Set([1, "a"]), new Set([2]), new Map([[1, 2], [null, 3]])]);
    assert.deepEqual(value.bytes, Uint8Array.from({ length: 256 }, (_, i) => i));
    assert.deepEqual([Buffer.from(value.array).toString(), value.none, value.truth], ["ab", null, [true, false]]);
    assert.equal(Object.getOwnPropertyDescriptor(value, "__proto__").value, 1);
    assert.deepEqual(value.dates.map((date) => date.toISOString()), ["0001-01-01T00:00:00.000Z", "2024-01-02T03:04:05.678Z", "2024-01-02T00:00:00.000Z", "2024-01-02T03:00:00.000Z", "1969-12-31T23:59:59.500Z"]);
    assert.deepEqual([value.delta, value.uuid], [-86_399_995, "00000000-0000-0000-0000-000000000005"]);
    assert.deepEqual([value.decimal.kind, String(value.decimal), value.complex.kind, value.complex.content, value.range.content], ["decimal", "1.10", "complex", [0, 1], [1, 5, 2]]);
    assert.equal((await local().run("2**62 + 1", BOUNDS)).value, 2n ** 62n + 1n);
    assert.equal((await local().run("None", BOUNDS)).value, null);
    const other = (await local().run("class C:\n    def __repr__(self): return 'a C'\nC()", BOUNDS)).value;
    assert.ok(other instanceof Repr && other.text === "a C", String(other));
});

test("policies, card, health and volumes", async () => {
    const daemon = local();
    assert.ok((await daemon.policies()).includes("default"));
    assert.match(await daemon.card("default"), /cell|program/i);
    assert.equal((await daemon.health()).status, "ok");
    await daemon.run("open('/data/kept', 'w').write('1')", { ...BOUNDS, volumes: { cache: "/data" }, check: true });
    assert.deepEqual((await daemon.volumes()).map(({ name, files }) => [name, files]), [["cache", 1]]);
    await daemon.removeVolume("cache");
    assert.deepEqual(await daemon.volumes(), []);
});
