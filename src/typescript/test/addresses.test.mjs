import assert from "node:assert/strict";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { AuthProblem, Daemon, DaemonLost, DaemonUnavailable, LaunchProblem, MalformedValue, PolicyProblem, TamperedError, UsageError } from "hotcell";
import { BOUNDS, CA_FILE, PLACE, TOKEN, URL_PLAIN, URL_TLS, impostor, remote } from "./common.mjs";

test("over an encrypting server with a prefix, with its authority", async () => {
    const daemon = new Daemon({ socket: URL_TLS, token: TOKEN, caFile: CA_FILE });
    const job = await daemon.submit("open('/output/f', 'w').write('x' * 300000)\n6 * 7", BOUNDS);
    const result = await job.result();
    assert.equal(result.value, 42);
    assert.equal((await result.files[0].read()).length, 300_000);
    const session = await daemon.sessions.create(BOUNDS);
    assert.equal((await session.run("7")).value, 7);
    await session.close();
    await assert.rejects(new Daemon({ socket: URL_TLS, token: TOKEN }).health(), (error) => error instanceof DaemonUnavailable && /caFile/.test(error.message));
    assert.throws(() => new Daemon({ socket: URL_TLS, caFile: join(PLACE, "none.pem") }), UsageError);
});

test("the environment names the daemon", async () => {
    Object.assign(process.env, { HOTCELL_SOCKET: URL_PLAIN, HOTCELL_TOKEN: TOKEN });
    try {
        assert.equal((await new Daemon().run("1", BOUNDS)).value, 1);
    } finally {
        delete process.env.HOTCELL_SOCKET;
        delete process.env.HOTCELL_TOKEN;
    }
    assert.throws(() => new Daemon(), UsageError);
    assert.throws(() => new Daemon({ url: URL_PLAIN }), (error) => error instanceof UsageError && /there is no option "url"/.test(error.message));
});

test("a wrong token, and none", async () => {
    for (const token of ["wrong", undefined]) {
        const daemon = new Daemon({ socket: URL_PLAIN, token });
        await assert.rejects(daemon.run("1", BOUNDS), (error) => error instanceof AuthProblem && error.status === 401 && error.retry === "not_started");
    }
    assert.throws(() => new Daemon({ socket: URL_PLAIN, token: "a\r\nb" }), UsageError);
});

test("addresses that are none", () => {
    for (const socket of ["localhost:80", "http://", "http://host", "http://h:99999", "http://u@h:1", "ftp://h:1", "http://h:1/../x", "http://h:1?x"]) {
        assert.throws(() => new Daemon({ socket }), UsageError, socket);
    }
});

test("no daemon", async () => {
    const sent = (error) => error instanceof DaemonUnavailable && error.retry === "not_started" && /start hotcelld/.test(error.message);
    await assert.rejects(new Daemon({ socket: join(PLACE, "nothing") }).run("1", BOUNDS), sent);
    const server = createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address();
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(remote(`http://127.0.0.1:${port}`).run("1", BOUNDS), sent);
    await assert.rejects((async () => { for await (const _ of remote(`http://127.0.0.1:${port}`).job("x").events()); })(), sent);
});

test("servers that are no hotcelld", async (t) => {
    const html = await impostor(t, (_, answer) => answer.end("<html>"));
    await assert.rejects(html.health(), DaemonLost);
    await assert.rejects(html.run("1", BOUNDS), DaemonLost);
    await assert.rejects(html.submit("1", BOUNDS), DaemonLost);
    const angry = await impostor(t, (_, answer) => answer.writeHead(502).end("<html>"));
    await assert.rejects(angry.health(), (error) => error instanceof LaunchProblem && error.status === 502 && error.retry === "started_outcome_unknown");
    const odd = await impostor(t, (_, answer) => answer.writeHead(403).end('{"detail": 5, "limits": 1, "retry": "not_started"}'));
    await assert.rejects(odd.health(), (error) => error instanceof PolicyProblem && error.message === "hotcelld answers with status 403" && error.limits.length === 0);
    const stream = (text) => impostor(t, (_, answer) => answer.writeHead(200, { "Content-Type": "text/event-stream", Location: "/v1/jobs/j" }).end(text));
    for (const text of ["data: {\n\n", "data: 1\n\n", "", 'data: {"event": "manifest", "manifest": {}}\n\n', 'data: {"event": "state"']) {
        await assert.rejects((await stream(text)).run("1", BOUNDS), (error) => error instanceof DaemonLost && error.jobId === "j", text);
    }
    const broken = await impostor(t, (_, answer) => { answer.writeHead(200, { "Content-Length": 100 }).write("{"); answer.socket.end(); });
    await assert.rejects(broken.health(), DaemonLost);
});

/** A server whose job has one file, and says this content of it. */
function withFile(t, content, more = {}) {
    const manifest = { job_id: "j", status: "ok", files: [{ path: "f", bytes: 3, sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" }], figures: [], ...more };
    return impostor(t, (request, answer) => {
        if (request.url.includes("/files/")) {
            answer.end(content);
            return;
        }
        answer.writeHead(200, { "Content-Type": "text/event-stream", Location: "/v1/jobs/j" }).end(`data: ${JSON.stringify({ event: "manifest", manifest })}\n\n`);
    });
}

test("a file that is not what was recorded", async (t) => {
    assert.equal(await (await (await withFile(t, "abc")).run("1")).files[0].text(), "abc");
    for (const content of ["abd", "ab", "abcd", "x".repeat(1 << 20)]) {
        await assert.rejects((await (await withFile(t, content)).run("1")).files[0].read(), TamperedError, content.slice(0, 9));
    }
});

test("values that are not well formed", async (t) => {
    const deep = (n) => (n === 0 ? 1 : { $tuple: [deep(n - 1)] });
    const nodes = [
        { $nothing: 1 }, { $int: "x" }, { $float: "1" }, { $bytes: "*" }, { $dict: [1] }, { $date: "x" }, { $datetime: ["2024-01-01T00:00:00", 0, ["zoneinfo", "../etc/x"], null] },
        { $ndarray: "AAAA" }, { $numpy: ["<f8", "AAAA"] }, { $constructor: 1 }, deep(200), { $set: 5 }, { $timedelta: [1] },
        { $index: { range: [0, 1e12, 1], names: [null] } }, { $index: { range: [0, 1, 0], names: [null] } }, { $objects: [[5], [1]] }, { $frame: {} }, { $other: 1 },
    ];
    for (const node of nodes) {
        const guest = { value: { "application/vnd.hotcell.value+json": node } };
        const result = await (await withFile(t, "", { guest })).run("1");
        assert.throws(() => result.value, MalformedValue, JSON.stringify(node).slice(0, 80));
    }
});
