/** What the tests share. They are started by tests/client/test_typescript.py, which says in the environment where the daemon is. */

import { readFileSync, readdirSync } from "node:fs";
import http from "node:http";
import { Daemon } from "hotcell";

export const { SOCKET, URL_PLAIN, URL_TLS, CA_FILE, TOKEN, DAEMON_PID, PLACE } = process.env;
export const BOUNDS = { tree: "base", timeout: Number(process.env.SECONDS), memory: "512M" };
export const local = () => new Daemon({ socket: SOCKET });
export const remote = (socket = URL_PLAIN) => new Daemon({ socket, token: TOKEN });

/** A promise with its ends in the test's hands. */
export function gate() {
    let open;
    const opened = new Promise((resolve) => { open = resolve; });
    return { open, opened };
}

/** A server that is no hotcelld; `answer` gets each request. */
export async function impostor(t, answer) {
    const server = http.createServer(answer);
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => new Promise((resolve) => { server.close(resolve); server.closeAllConnections?.(); }));
    return remote(`http://127.0.0.1:${server.address().port}`);
}

/** Processes of the daemon of this kind, such as "session". */
export function processes(kind) {
    const children = readFileSync(`/proc/${DAEMON_PID}/task/${DAEMON_PID}/children`, "ascii").trim().split(" ");
    return children.filter((pid) => readFileSync(`/proc/${pid}/comm`, "ascii").trim() === `hotcelld-${kind}`.slice(0, 15)).map(Number);
}

export const left = () => readdirSync(PLACE);
