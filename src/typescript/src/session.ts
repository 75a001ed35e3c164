/** Sessions: interpreters that keep their state from run to run; hotcelld(8), SESSIONS. */

import { open as openFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import type { components } from "./api.js";
import { DaemonLost, HotcellError, InputError, InputProblem, NotFound, Problem, SessionEnded, problemOf, type Manifest, type ProblemDocument } from "./errors.js";
import { messages, type SessionEvent } from "./events.js";
import { Uploads, runBody, specOf, textOf, type Program, type RunOptions, type SessionOptions } from "./inputs.js";
import { quoted, readable } from "./job.js";
import { Result, checked, routeOf } from "./results.js";
import { Answerer, type Tools } from "./tools.js";
import { ask, joined, open, type Place } from "./transport.js";

type Schemas = components["schemas"];
export type SessionInfo = Schemas["Session"];
export type SessionFile = Schemas["SessionFile"];

const PART = 4 << 20; // bytes of a file in one request

interface Signalled {
    signal?: AbortSignal;
}

export interface SessionRunOptions extends RunOptions {
    onEvent?: (event: SessionEvent) => unknown;
    /** Answers input(): a line, or null for the end of input. */
    onInput?: (prompt: string) => string | null | Promise<string | null>;
    /** Throw a JobError if the program does not end well. */
    check?: boolean;
    signal?: AbortSignal;
}

/** The result of a run. `state` says what the next run finds; hotcell-session(1). */
export class Run extends Result {
    constructor(place: Place, route: string, answer: Schemas["Result"], toolErrors: readonly unknown[]) {
        super(place, route, answer.manifest, toolErrors);
        [this.run, this.state, this.branch, this.context] = [answer.run, answer.state, answer.branch, answer.manifest.context ?? "main"];
    }

    readonly run: number;
    readonly state: string;
    readonly branch: number | undefined;
    /** The context that it was in. */
    readonly context: string;
}

/** A session of the tenant's. There is one run at a time: further calls of this object wait for their turn. */
export class Session {
    /** Of the whole session, once close() has ended it. */
    manifest: Manifest | undefined;
    /** Files of its working directory, between runs. */
    readonly files: SessionFiles;
    private readonly route: string;
    private last: Promise<unknown> = Promise.resolve();

    constructor(private readonly place: Place, readonly id: string, private readonly tools: Tools | undefined) {
        this.route = `/v1/sessions/${quoted(id, "session id")}`;
        this.files = new SessionFiles((what, body, signal) => this.turn(signal, () => this.post(`workdir/${what}`, body, signal)));
    }

    /**
     * Run a program in the state that earlier runs left. Aborting the signal interrupts the program; the promise is rejected at
     * once, and the next run waits for the end of this one. Throws SessionEnded if the session has ended.
     */
    async run(program: Program, options: SessionRunOptions = {}): Promise<Run> {
        const { onEvent, onInput, check, signal, ...rest } = options;
        const body = await runBody(program, rest, this.place, onInput ? { interactive: true } : {});
        const { promise, resolve, reject } = deferred<Run>();
        const forward = (): void => reject(signal?.reason);
        signal?.addEventListener("abort", forward);
        this.turn(signal, () => this.runNow(body, options)).then(resolve, reject);
        try {
            return checked(await promise, check);
        } finally {
            signal?.removeEventListener("abort", forward);
        }
    }

    /** Raise KeyboardInterrupt in the running program; without one nothing happens. */
    async interrupt(options: Signalled = {}): Promise<void> {
        await this.post("interrupt", undefined, options.signal);
    }

    /** Save the present state of a context under a name. */
    async checkpoint(name: string, options: Signalled & { context?: string } = {}): Promise<void> {
        await this.turn(options.signal, () => this.post("checkpoints", inContext(name, options), options.signal));
    }

    /** Bring a context back to the state of a checkpoint, which is kept. */
    async rollback(name: string, options: Signalled & { context?: string } = {}): Promise<void> {
        await this.turn(options.signal, () => this.post("rollback", inContext(name, options), options.signal));
    }

    /**
     * Begin a context: one more interpreter in the session's cell, with names of its own and the same files. It is a copy of a
     * checkpoint, or of the interpreter as it was before the first run.
     */
    async context(options: Signalled & { name?: string; checkpoint?: string; workdir?: string } = {}): Promise<Context> {
        const { name, checkpoint: from, workdir, signal } = options;
        const body = Object.fromEntries(Object.entries({ name, from, workdir }).filter(([, value]) => value !== undefined));
        return this.contextOf((await this.turn(signal, () => this.post("contexts", body, signal))) as Schemas["Context"]);
    }

    /** The contexts, "main" first, which the session began with. It does not wait for a run. */
    async contexts(options: Signalled = {}): Promise<Context[]> {
        try {
            const listed = (await ask(this.place, { method: "GET", path: `${this.route}/contexts`, signal: options.signal })) as Schemas["Contexts"];
            return listed.contexts.map((each) => this.contextOf(each));
        } catch (error) {
            throw await this.told(error);
        }
    }

    /** Run several programs, each from the present state; then keep() has to choose one of the states. */
    async branch(programs: ReadonlyArray<Program | ({ program: Program } & RunOptions)>, options: Signalled = {}): Promise<Run[]> {
        const bodies = await Promise.all(programs.map((each) => {
            const { program, ...rest } = typeof each === "string" || !("program" in each) ? { program: each } : each;
            return runBody(program, rest, this.place, {});
        }));
        const answer = await this.turn(options.signal, () => this.post("branches", `{"runs": [${bodies.join(", ")}]}`, options.signal)) as Schemas["Branches"];
        return answer.branches.map((each) => {
            if (each.event === "error") {
                throw new InputError(each.message);
            }
            return this.made(each, []);
        });
    }

    /** Go on with the state of the branch of this number, from 1; 0: with the state before. */
    async keep(branch: number, options: Signalled = {}): Promise<void> {
        await this.turn(options.signal, () => this.post("keep", { branch }, options.signal));
    }

    /** What the runs so far have changed in the copies of volumes, which change themselves when the session ends. */
    async changes(options: Signalled = {}): Promise<Schemas["ChangeList"]["dirs"]> {
        return (await this.turn(options.signal, () => this.post("workdir/changes", {}, options.signal)) as Schemas["ChangeList"]).dirs;
    }

    /** The daemon's record of the session. */
    async info(options: Signalled = {}): Promise<SessionInfo> {
        return (await ask(this.place, { method: "GET", path: this.route, signal: options.signal })) as SessionInfo;
    }

    /** The content of a file of a run by its path in that run's manifest. It is held against no hash: `run.file` is. */
    async file(path: string, options: Signalled = {}): Promise<Uint8Array> {
        const answer = await open(this.place, { method: "GET", path: `${this.route}/files/${routeOf(path)}`, signal: options.signal });
        return new Uint8Array(await answer.whole());
    }

    /** End the session. Afterwards `manifest` is the manifest of the whole session. A session that has ended stays so. */
    async close(options: Signalled = {}): Promise<void> {
        if (this.manifest) {
            return;
        }
        try {
            const ended = (await ask(this.place, { method: "DELETE", path: this.route, signal: options.signal })) as SessionInfo | undefined;
            this.manifest = ended?.manifest;
        } catch (error) {
            if (!(error instanceof NotFound)) {
                throw error;
            }
        }
    }

    private contextOf({ name, workdir }: Schemas["Context"]): Context {
        const path = `${this.route}/contexts/${quoted(name, "context")}`;
        const change = (method: "POST" | "DELETE", what: string, signal: AbortSignal | undefined): Promise<unknown> =>
            this.turn(signal, () => ask(this.place, { method, path: path + what, signal }).catch(async (error: unknown) => {
                throw await this.told(error);
            }));
        return new Context(this, name, workdir, change);
    }

    /** Do something when all that came before is done. */
    private turn<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
        const next = this.last.then(() => {
            signal?.throwIfAborted();
            return work();
        });
        this.last = next.catch(() => undefined); // its caller gets the error
        return next;
    }

    private async post(what: string, body: unknown, signal: AbortSignal | undefined): Promise<unknown> {
        try {
            return await ask(this.place, { method: "POST", path: `${this.route}/${what}`, body: body === undefined || typeof body === "string" ? body : textOf(body), signal });
        } catch (error) {
            throw await this.told(error);
        }
    }

    /** The exception for a failed request: SessionEnded for status 410; for 422 an InputProblem, as the session's policy is settled. */
    private async told(error: unknown): Promise<unknown> {
        if (error instanceof Problem && error.status === 422) {
            return new InputProblem(error.document, error.status);
        }
        if (!(error instanceof Problem) || error.status !== 410) {
            return error;
        }
        try {
            const { reason, manifest } = await this.info({ signal: AbortSignal.timeout(30_000) });
            return new SessionEnded(reason ?? error.detail, manifest ?? error.manifest, { cause: error });
        } catch {
            return new SessionEnded(error.detail, error.manifest, { cause: error });
        }
    }

    private async runNow(body: string, options: SessionRunOptions): Promise<Run> {
        const { signal } = options;
        let failure: { error: unknown } | undefined;
        const interrupt = (): void => void this.interrupt().catch(() => undefined); // the run may have ended meanwhile
        const fail = (error: unknown): void => {
            if (!failure) {
                failure = { error };
                interrupt();
            }
        };
        const answerer = new Answerer(this.place, () => this.route, this.tools ?? {});
        const onAbort = (): void => fail(signal?.reason);
        signal?.addEventListener("abort", onAbort);
        try {
            const end = await this.ending(body, answerer, fail, () => failure !== undefined, options);
            if (failure) {
                throw failure.error;
            }
            if (end.event === "problem") {
                throw problemOf(end.problem);
            }
            return this.made(end, answerer.errors);
        } catch (error) {
            throw failure ? failure.error : await this.told(error);
        } finally {
            signal?.removeEventListener("abort", onAbort);
            answerer.end();
        }
    }

    /** The last event of a run. When something has failed, its listener hears no more, and its end is still awaited. */
    private async ending(body: string, answerer: Answerer, fail: (error: unknown) => void, failed: () => boolean,
        options: SessionRunOptions): Promise<Schemas["Result"] | { event: "problem"; problem: ProblemDocument }> {
        const answer = await open(this.place, { method: "POST", path: `${this.route}/runs`, body, headers: { Accept: "text/event-stream" } });
        let end: Schemas["Result"] | Schemas["ProblemEvent"] | undefined;
        if (failed()) { // before there was a run that an interrupt could reach
            await this.interrupt();
        }
        for await (const { event } of messages<SessionEvent>(this.place, answer)) {
            if (event.event === "result" || event.event === "problem") {
                end = event;
            } else if (event.event === "tool_call") {
                answerer.take(event, fail);
            }
            try {
                if (!failed()) {
                    await options.onEvent?.(event);
                }
                if (event.event === "input_request" && options.onInput) {
                    await this.input(failed() ? null : await options.onInput(event.input_request.prompt));
                }
            } catch (error) {
                fail(error);
            }
        }
        if (!end) {
            throw new DaemonLost(`${this.place.name}: the events of the run ended before the run`);
        }
        return end;
    }

    private made(answer: Schemas["Result"], toolErrors: readonly unknown[]): Run {
        return readable(this.place, () => new Run(this.place, this.route, answer, toolErrors));
    }

    private async input(line: string | null): Promise<void> {
        try {
            await this.post("input", { input: line === null || line.endsWith("\n") ? line : `${line}\n` }, undefined);
        } catch (error) {
            if (!(error instanceof Problem)) {
                throw error; // a Problem: the run has ended meanwhile
            }
        }
    }
}

/** An interpreter of a session: names, modules, the environment and threads are its own; files, limits and tools are the session's. */
export class Context {
    constructor(private readonly session: Session, readonly name: string,
        /** The directory of the cell that it began in. */
        readonly workdir: string,
        private readonly change: (method: "POST" | "DELETE", what: string, signal: AbortSignal | undefined) => Promise<unknown>) {}

    /** As Session.run, in this context. */
    run(program: Program, options: SessionRunOptions = {}): Promise<Run> {
        return this.session.run(program, { ...options, context: this.name });
    }

    /** As Session.checkpoint, of this context. */
    checkpoint(name: string, options: Signalled = {}): Promise<void> {
        return this.session.checkpoint(name, { ...options, context: this.name });
    }

    /** As Session.rollback, of this context. */
    rollback(name: string, options: Signalled = {}): Promise<void> {
        return this.session.rollback(name, { ...options, context: this.name });
    }

    /** Begin it anew: the interpreter becomes what it was before the session's first run. Files stay. */
    async restart(options: Signalled = {}): Promise<void> {
        await this.change("POST", "/restart", options.signal);
    }

    /** End it. "main" ends with the session. */
    async end(options: Signalled = {}): Promise<void> {
        await this.change("DELETE", "", options.signal);
    }
}

function inContext(name: string, { context }: { context?: string }): Record<string, string> {
    return context === undefined ? { name } : { name, context };
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
    let [resolve, reject] = [(_: T): void => undefined, (_: unknown): void => undefined];
    const promise = new Promise<T>((yes, no) => {
        [resolve, reject] = [yes, no];
    });
    return { promise, resolve, reject };
}

/** Files of a session's working directory, /output. Paths are relative to it; links are never followed. */
export class SessionFiles {
    constructor(private readonly ask: (what: string, body: object, signal: AbortSignal | undefined) => Promise<unknown>) {}

    /**
     * Put in a file, in the place of an older one; missing directories are made. `content`: bytes, text, or the URL of a file of
     * this host. Large ones go in parts: a write that fails after the first part leaves the parts before.
     */
    async write(path: string, content: Uint8Array | string | URL, options: Signalled = {}): Promise<SessionFile> {
        let [offset, written] = [0, undefined as SessionFile | undefined];
        for await (const part of partsOf(content)) {
            const body = { path, offset, data: Buffer.from(part).toString("base64") };
            written = ((await this.ask("write", body, options.signal)) as Schemas["FileDone"]).file;
            offset += part.length;
        }
        if (!written) {
            throw new HotcellError(`${path}: nothing was written`);
        }
        return written;
    }

    /** The bytes of a file from `offset` on, at most `length`. */
    async read(path: string, options: Signalled & { offset?: number; length?: number } = {}): Promise<Uint8Array> {
        const parts: Uint8Array[] = [];
        let [offset, left] = [options.offset ?? 0, options.length ?? Infinity];
        for (;;) {
            const answer = (await this.ask("read", { path, offset, bytes: Math.min(PART, left) }, options.signal)) as Schemas["FileContent"];
            const part = Buffer.from(answer.data, "base64");
            parts.push(part);
            offset += part.length;
            left -= part.length;
            if (answer.end || part.length === 0 || left <= 0) {
                return joined(parts);
            }
        }
    }

    /** The entries of a directory, sorted by name. Names that are no UTF-8 are left out. */
    async list(path = ".", options: Signalled = {}): Promise<SessionFile[]> {
        const files: SessionFile[] = [];
        let page: { after?: string } = {};
        for (;;) {
            const answer = (await this.ask("list", { path, ...page }, options.signal)) as Schemas["FileList"];
            const above = answer.path === "." ? "" : `${answer.path}/`;
            files.push(...answer.files.map(({ name, kind, bytes, modified }) => ({ path: above + name, kind, bytes, modified })));
            if (answer.next === null) {
                return files;
            }
            page = { after: answer.next };
        }
    }

    /** What a name stands for. */
    async stat(path: string, options: Signalled = {}): Promise<SessionFile> {
        return ((await this.ask("stat", { path }, options.signal)) as Schemas["FileDone"]).file;
    }

    /** Remove a file, a link, or an empty directory. */
    async remove(path: string, options: Signalled = {}): Promise<void> {
        await this.ask("remove", { path }, options.signal);
    }
}

/** The content in parts, of which there is at least one. */
async function* partsOf(content: Uint8Array | string | URL): AsyncGenerator<Uint8Array, void, undefined> {
    if (!(content instanceof URL)) {
        const bytes = typeof content === "string" ? Buffer.from(content) : content;
        for (let from = 0; from === 0 || from < bytes.length; from += PART) {
            yield bytes.subarray(from, from + PART);
        }
        return;
    }
    const handle = await openFile(fileURLToPath(content), "r").catch((error: unknown) => {
        throw new InputError((error as Error).message, { cause: error });
    });
    try {
        const buffer = Buffer.alloc(PART);
        for (let first = true; ; first = false) {
            const { bytesRead } = await handle.read(buffer, 0, PART, null);
            if (bytesRead === 0 && !first) {
                return;
            }
            yield buffer.subarray(0, bytesRead);
        }
    } finally {
        await handle.close();
    }
}

/** The sessions of the tenant. */
export class Sessions {
    constructor(private readonly place: Place) {}

    /** Begin a session. */
    async create(options: SessionOptions & Signalled = {}): Promise<Session> {
        const { signal, ...rest } = options;
        const uploads = new Uploads(this.place, signal);
        try {
            const body = await uploads.body({ ...specOf(undefined, rest), interface: "http" }, rest.inputs);
            const info = (await ask(this.place, { method: "POST", path: "/v1/sessions", body, signal })) as SessionInfo | undefined;
            if (typeof info?.session_id !== "string") {
                throw new DaemonLost(`${this.place.name}: it does not say which session it runs`);
            }
            return new Session(this.place, info.session_id, rest.tools);
        } finally {
            await uploads.forget(); // the session's cell has its inputs now
        }
    }

    /** A session that there is already; `tools` answers those that it began with. Its first request tells whether there is one. */
    get(id: string, tools?: Tools): Session {
        return new Session(this.place, id, tools);
    }

    /** The tenant's sessions, newest first. */
    async list(options: Signalled = {}): Promise<SessionInfo[]> {
        return ((await ask(this.place, { method: "GET", path: "/v1/sessions", signal: options.signal })) as Schemas["Sessions"]).sessions;
    }
}
