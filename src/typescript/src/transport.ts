/**
 * HTTP to hotcelld, over its Unix socket, over TCP or encrypted. All go through node:http and node:https and not through fetch,
 * which can use neither Unix sockets nor another authority's certificates, and gives up after five minutes without an answer.
 */

import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";

import { DaemonLost, DaemonUnavailable, UsageError, problemOfBody } from "./errors.js";
import { parse, stringify } from "./json.js";

const PATIENCE = 30_000; // milliseconds to connect
const LARGE = 1 << 20; // bytes of a body that is only sent when the daemon has agreed to its head: it may refuse it for its size
const AGREES = 1_000; // milliseconds for that; a proxy may keep the agreement to itself
const ADDRESS = /^(https?):\/\/(\[[0-9A-Fa-f:.]+\]|[^:/[\]@?#]+)(?::([0-9]{1,5}))?((?:\/[A-Za-z0-9._~-]+)*)\/?$/;
const EXPECTED = "expected a path, http://HOST:PORT or https://HOST:PORT, with /PREFIX behind it or without";

/** Where a daemon is. */
export interface Place {
    /** As messages write it. */
    readonly name: string;
    readonly unix: boolean;
    readonly encrypted: boolean;
    readonly prefix: string;
    readonly connect: https.RequestOptions;
}

/** The address of a daemon. UsageError for a text that is none, or a CA file that cannot be read. */
export function findPlace(socket: string | undefined, token: string | undefined, caFile: string | undefined): Place {
    const named = socket ?? process.env["HOTCELL_SOCKET"] ?? "";
    if (!named) {
        throw new UsageError("no daemon: name its socket, or set HOTCELL_SOCKET");
    }
    if (!named.includes("://")) {
        if (/^[^/]+:[0-9]{1,5}$/.test(named)) {
            throw new UsageError(`${EXPECTED}, got ${named}: did you mean http://${named}?`);
        }
        return { name: named, unix: true, encrypted: false, prefix: "", connect: { socketPath: named, headers: { Host: "localhost" } } };
    }
    const match = ADDRESS.exec(named);
    const encrypted = named.startsWith("https:");
    const [, , host = "", digits, prefix = ""] = match ?? [];
    const port = Number(digits ?? (encrypted ? 443 : 0));
    if (!match || port < 1 || port > 65535 || prefix.includes("/..")) {
        throw new UsageError(`${EXPECTED}, got ${named}`);
    }
    const bearer = token ?? process.env["HOTCELL_TOKEN"];
    if (bearer !== undefined && !/^[\x21-\x7e]+$/.test(bearer)) {
        throw new UsageError("token: expected letters, digits and signs, without spaces and line breaks");
    }
    const headers = { Host: `${host}:${port}`, ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }) };
    const authority = encrypted && caFile !== undefined ? { ca: readCa(caFile) } : {};
    return { name: named, unix: false, encrypted, prefix, connect: { host: host.replace(/[[\]]/g, ""), port, headers, ...authority } };
}

function readCa(caFile: string): Buffer {
    try {
        return readFileSync(caFile);
    } catch (error) {
        throw new UsageError(`caFile: ${(error as Error).message}`, { cause: error });
    }
}

export interface Request {
    readonly method: "GET" | "POST" | "DELETE";
    readonly path: string;
    /** Bytes as they are, text that is JSON already, or another value, which is sent as JSON. */
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal | undefined;
}

/** An answer's head, and its body as it comes. */
export class Answer {
    readonly status: number;

    constructor(private readonly place: Place, private readonly message: http.IncomingMessage, private readonly signal: AbortSignal | undefined) {
        this.status = message.statusCode ?? 0;
    }

    header(name: string): string {
        const value = this.message.headers[name];
        return typeof value === "string" ? value : "";
    }

    /** The body in parts. DaemonLost: the connection broke before its end. */
    async *parts(): AsyncGenerator<Buffer, void, undefined> {
        try {
            yield* this.message as AsyncIterable<Buffer>;
        } catch (error) {
            this.signal?.throwIfAborted();
            throw new DaemonLost(`${this.place.name}: read the answer: ${(error as Error).message}`, { cause: error });
        }
        if (!this.message.complete) {
            throw new DaemonLost(`${this.place.name}: the connection was closed in the middle of the answer`);
        }
    }

    /** All of the body. */
    async whole(): Promise<Buffer> {
        const parts: Buffer[] = [];
        for await (const part of this.parts()) {
            parts.push(part);
        }
        return Buffer.concat(parts);
    }

    /** Hang up. */
    close(): void {
        this.message.destroy();
    }
}

/** The parts as one, in memory of its own. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
    const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
    let at = 0;
    for (const part of parts) {
        whole.set(part, at);
        at += part.length;
    }
    return whole;
}

function bodyOf(body: unknown): { bytes: Buffer | undefined; type: Record<string, string> } {
    if (body === undefined) {
        return { bytes: undefined, type: {} };
    }
    if (body instanceof Uint8Array) {
        return { bytes: Buffer.from(body.buffer, body.byteOffset, body.byteLength), type: { "Content-Type": "application/octet-stream" } };
    }
    return { bytes: Buffer.from(typeof body === "string" ? body : stringify(body)), type: { "Content-Type": "application/json" } };
}

/**
 * Send a request; the answer's head. The answer's Problem if it refuses; DaemonUnavailable: nothing was sent; DaemonLost: the
 * connection broke; the signal's reason if it is aborted, also while the body is read.
 */
export async function open(place: Place, request: Request): Promise<Answer> {
    const answer = new Answer(place, await sent(place, request), request.signal);
    if (answer.status >= 400) {
        throw problemOfBody(answer.status, await answer.whole());
    }
    return answer;
}

function sent(place: Place, request: Request): Promise<http.IncomingMessage> {
    const { signal } = request;
    signal?.throwIfAborted();
    const { bytes, type } = bodyOf(request.body);
    return new Promise((resolve, reject) => {
        let connected = false;
        const outgoing = (place.encrypted ? https : http).request({
            ...place.connect, agent: false, method: request.method, path: place.prefix + request.path, ...(signal ? { signal } : {}),
            headers: {
                ...(place.connect.headers as http.OutgoingHttpHeaders), ...type, ...request.headers, Connection: "close",
                ...(request.method === "POST" ? { "Content-Length": bytes?.length ?? 0 } : {}),
                ...(bytes && bytes.length > LARGE ? { Expect: "100-continue" } : {}),
            },
        });
        const timer = setTimeout(() => outgoing.destroy(new Error("it does not answer")), PATIENCE);
        outgoing.on("socket", (socket: Socket) => {
            socket.once(place.encrypted ? "secureConnect" : "connect", () => {
                connected = true;
                clearTimeout(timer);
            });
        });
        outgoing.on("response", resolve);
        outgoing.on("error", (error) => {
            clearTimeout(timer);
            reject(signal?.aborted ? (signal.reason as Error) : connected ? lost(place, error) : unavailable(place, error));
        });
        send(outgoing, bytes);
    });
}

function send(outgoing: http.ClientRequest, bytes: Buffer | undefined): void {
    if (!bytes || bytes.length <= LARGE) {
        outgoing.end(bytes);
        return;
    }
    let timer: NodeJS.Timeout | undefined;
    const go = (): void => {
        clearTimeout(timer);
        outgoing.off("continue", go);
        outgoing.end(bytes);
    };
    outgoing.once("continue", go);
    outgoing.once("socket", (socket: Socket) => socket.once("connect", () => {
        timer = setTimeout(go, AGREES);
    }));
    for (const end of ["response", "close", "error"]) {
        outgoing.once(end, () => {
            clearTimeout(timer);
            outgoing.off("continue", go);
        });
    }
    outgoing.flushHeaders();
}

function lost(place: Place, error: Error): DaemonLost {
    return new DaemonLost(`${place.name}: ${error.message}`, { cause: error });
}

function unavailable(place: Place, error: NodeJS.ErrnoException): DaemonUnavailable {
    const advice = error.code === "EACCES" ? "socket.mode and socket.group of hotcelld.conf(5) say who may"
        : /CERT|SIGNED|ISSUER|SIGNATURE|ALTNAME/.test(error.code ?? "") ? "caFile, or NODE_EXTRA_CA_CERTS, has to name who vouches for this server"
            : "start hotcelld(8), or say where it is";
    return new DaemonUnavailable(`connect to hotcelld at ${place.name}: ${error.message}: ${advice}`, { cause: error });
}

/** Send a request; the answer's JSON, undefined for an empty answer. */
export async function ask(place: Place, request: Request): Promise<unknown> {
    const answer = await open(place, request);
    const body = await answer.whole();
    if (body.length === 0) {
        return undefined;
    }
    try {
        return parse(body.toString("utf8"));
    } catch (error) {
        throw new DaemonLost(`${place.name}: the answer is no JSON`, { cause: error });
    }
}
