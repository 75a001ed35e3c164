/** The bodies of requests; inputs that are too large for one go before it, in parts: hotcelld(8), UPLOADS. */

import { createHash } from "node:crypto";
import { open as openFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import type { components } from "./api.js";
import { HotcellError, InputError, UsageError } from "./errors.js";
import { stringify } from "./json.js";
import { describedTools, type Tools } from "./tools.js";
import { ask, open, type Place } from "./transport.js";

type Schemas = components["schemas"];
type SentInput = Schemas["Input"];

const LARGE = 8 << 20; // bytes of an input from which on it goes before the request
const PART = 8 << 20; // bytes of an upload in one request

/** Content: bytes, text, or bytes as they come, which are always sent as an upload. */
export type Content = Uint8Array | string | AsyncIterable<Uint8Array>;

/**
 * An input: the path of a file of this host (a string, or a file: URL), bytes, or content under the name of a file, whose ending
 * says how it is read: `{ file: "sales.csv", content: "a,b\n" }`; or an upload that is there already.
 */
export type Input = string | URL | Uint8Array | { file?: string; content: Content } | { file?: string; upload: string };
export type Inputs = Readonly<Record<string, Input>>;

/** What a program gets, in a job or in a run of a session. */
export interface ProgramOptions {
    inputs?: Inputs;
    /** Variables of the program: what JSON can hold. */
    vars?: Readonly<Record<string, unknown>>;
    /** Standard input. */
    input?: string | Uint8Array;
    /** sys.argv[1:]. */
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    /** Short for limits.timeout: seconds, or text such as "5s". */
    timeout?: number | string;
    /** Variables to bring back, by name: `result.returned`. */
    returns?: readonly string[];
    persistCode?: boolean;
}

/** What the cell of a job or of a session is like. */
export interface CellOptions {
    policy?: string;
    tree?: string;
    limits?: Schemas["Limits"];
    /** Short for limits.memory: bytes, or text such as "256M". */
    memory?: number | string;
    labels?: Readonly<Record<string, string>>;
    seed?: number;
    /** Places by the names of volumes. */
    volumes?: Readonly<Record<string, string>>;
    /** What the program may call, answered by this process. */
    tools?: Tools;
}

export interface JobOptions extends ProgramOptions, CellOptions {}

export interface SessionOptions extends CellOptions {
    inputs?: Inputs;
    vars?: Readonly<Record<string, unknown>>;
    env?: Readonly<Record<string, string>>;
    timeout?: number | string;
}

export interface RunOptions extends ProgramOptions {
    limits?: Schemas["RunLimits"];
    /** The name of the context that it runs in; by default the session's first. */
    context?: string;
}

/** A program: Python as text, or a command as a list of its arguments. */
export type Program = string | readonly string[];

/** Refuse options that there are not: a name that is mistyped would be without effect. */
export function refuseOthers(others: object): void {
    for (const name of Object.keys(others)) {
        throw new UsageError(`there is no option ${JSON.stringify(name)}`);
    }
}

/** The members of a request that `options` say, with inputs left out. UsageError for an option that there is not. */
export function specOf(program: Program | undefined, options: JobOptions & RunOptions): Record<string, unknown> {
    const { inputs: _, input, persistCode, returns, timeout, memory, limits, volumes, tools, vars, args, env, policy, tree, labels, seed, context, ...others } = options;
    refuseOthers(others);
    const all = {
        ...programOf(program), vars, args, env, policy, tree, labels, seed, context, persist_code: persistCode || undefined,
        limits: orNothing({ ...limits, ...(timeout === undefined ? {} : { timeout }), ...(memory === undefined ? {} : { memory }) }),
        return: returns?.map((name) => (name.includes("=") ? name : `${name}=exact`)),
        volumes: volumes && Object.entries(volumes).map(([name, place]) => ({ name, place })),
        tools: tools && describedTools(tools), stdin: input instanceof Uint8Array || input?.includes("\0") ? { data: base64(bytesOf(input)) } : input,
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function programOf(program: Program | undefined): Record<string, unknown> {
    return program === undefined ? {} : typeof program === "string" ? { code: program } : { command: program };
}

function orNothing(limits: object): object | undefined {
    return Object.keys(limits).length > 0 ? limits : undefined;
}

function bytesOf(content: string | Uint8Array): Buffer {
    return typeof content === "string" ? Buffer.from(content) : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

function base64(bytes: Buffer): string {
    return bytes.toString("base64");
}

/** Sends inputs that are large, and remembers which uploads it has made. */
export class Uploads {
    private readonly made: string[] = [];

    /**
     * `use`: "again" if the same request may be sent once more, so that content that is there already is not sent anew; "never" for a
     * request that takes no uploads.
     */
    constructor(private readonly place: Place, private readonly signal: AbortSignal | undefined, private readonly use: "once" | "again" | "never" = "once") {}

    /** The request's body, once its large inputs are there. */
    async body(spec: Record<string, unknown>, inputs: Inputs | undefined): Promise<string> {
        const sent: Record<string, SentInput> = {};
        for (const [name, input] of Object.entries(inputs ?? {})) {
            sent[name] = await this.input(name, input);
        }
        return textOf(Object.keys(sent).length > 0 ? { ...spec, inputs: sent } : spec);
    }

    /** Remove the uploads, which are of no more use; those that cannot be removed go with their age. */
    async forget(): Promise<void> {
        for (const id of this.made.splice(0)) {
            await this.remove(id);
        }
    }

    private apart(size: number): boolean {
        return size >= LARGE && this.use !== "never";
    }

    private async input(name: string, input: Input): Promise<SentInput> {
        if (typeof input === "string" || input instanceof URL) {
            return this.file(name, input);
        }
        if (input instanceof Uint8Array) {
            return this.content(name, {}, input);
        }
        const file = input.file === undefined ? {} : { file: input.file };
        return "upload" in input ? { ...file, upload: input.upload } : this.content(name, file, input.content);
    }

    private async content(name: string, file: { file?: string }, content: Content): Promise<SentInput> {
        if (typeof content !== "string" && !(content instanceof Uint8Array)) {
            if (this.use !== "once") {
                const whose = this.use === "again" ? "a request with a key" : "a run of a session";
                throw new UsageError(`inputs: ${name}: ${whose} takes no content that comes bit by bit: give bytes or a file`);
            }
            return { ...file, upload: await this.send(content) };
        }
        const bytes = bytesOf(content);
        if (this.apart(bytes.length)) {
            return { ...file, upload: await this.sendOnce(() => partsOf(bytes)) };
        }
        return { ...file, ...inline(bytes) };
    }

    private async file(name: string, path: string | URL): Promise<SentInput> {
        const plain = path instanceof URL ? fileURLToPath(path) : path;
        try {
            const handle = await openFile(plain, "r");
            try {
                const { size } = await handle.stat();
                if (!this.apart(size)) {
                    return { file: basename(plain), ...inline(await handle.readFile()) };
                }
            } finally {
                await handle.close();
            }
            return { file: basename(plain), upload: await this.sendOnce(() => partsOfFile(plain)) };
        } catch (error) {
            if (error instanceof HotcellError || this.signal?.aborted) {
                throw error;
            }
            throw new InputError(`inputs: ${name}: ${(error as Error).message}`, { cause: error });
        }
    }

    private async sendOnce(parts: () => AsyncIterable<Uint8Array>): Promise<string> {
        return (this.use === "again" ? await this.found(parts()) : undefined) ?? this.send(parts());
    }

    /** A finished upload of the same content. */
    private async found(content: AsyncIterable<Uint8Array>): Promise<string | undefined> {
        const hash = createHash("sha256");
        for await (const part of content) {
            hash.update(part);
        }
        const sha256 = hash.digest("hex");
        const { uploads } = (await ask(this.place, { method: "GET", path: "/v1/uploads", signal: this.signal })) as Schemas["UploadList"];
        return uploads.find((upload) => upload.state === "finished" && upload.sha256 === sha256)?.upload_id;
    }

    private async send(content: AsyncIterable<Uint8Array>): Promise<string> {
        const { place, signal } = this;
        const { upload_id: id } = (await ask(place, { method: "POST", path: "/v1/uploads", signal })) as Schemas["Upload"];
        const hash = createHash("sha256");
        let offset = 0;
        try {
            for await (const chunk of content) {
                for (let from = 0; from < chunk.length; from += PART) {
                    const body = chunk.subarray(from, from + PART);
                    await ask(place, { method: "POST", path: `/v1/uploads/${id}/parts?offset=${offset}`, body, signal });
                    hash.update(body);
                    offset += body.length;
                }
            }
            await ask(place, { method: "POST", path: `/v1/uploads/${id}/finish`, body: { sha256: hash.digest("hex") }, signal });
        } catch (error) {
            await this.remove(id);
            throw error;
        }
        this.made.push(id);
        return id;
    }

    private async remove(id: string): Promise<void> {
        try {
            (await open(this.place, { method: "DELETE", path: `/v1/uploads/${id}`, signal: AbortSignal.timeout(5_000) })).close();
        } catch {
            return; // it goes with its age
        }
    }
}

/** Content of a request: UTF-8 as text, anything else in base64, which is longer. */
function inline(bytes: Buffer): { text: string } | { data: string } {
    if (!bytes.includes(0)) {
        try {
            return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
        } catch {
            return { data: base64(bytes) };
        }
    }
    return { data: base64(bytes) };
}

async function* partsOf(bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
    yield bytes;
}

async function* partsOfFile(path: string): AsyncGenerator<Uint8Array, void, undefined> {
    const handle = await openFile(path, "r");
    try {
        const buffer = Buffer.alloc(PART);
        for (;;) {
            const { bytesRead } = await handle.read(buffer, 0, PART, null);
            if (bytesRead === 0) {
                return;
            }
            yield buffer.subarray(0, bytesRead);
        }
    } finally {
        await handle.close();
    }
}

/** A request's body as JSON. InputError for a value that JSON cannot hold. */
export function textOf(spec: unknown): string {
    try {
        return stringify(spec);
    } catch (error) {
        throw new InputError((error as Error).message, { cause: error });
    }
}

/** The body of a run of a session, whose inputs go with it. */
export function runBody(program: Program, options: RunOptions, place: Place, more: object): Promise<string> {
    return new Uploads(place, undefined, "never").body({ ...specOf(program, options), ...more }, options.inputs);
}
