/** Results of jobs and of runs of sessions, made of their manifests: hotcell-manifest(5). */

import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";

import { HotcellError, MalformedValue, TamperedError, type Manifest } from "./errors.js";
import { joined, open, type Place } from "./transport.js";
import { MIME, untagged, valueOfFile } from "./values.js";

export type Stream = Manifest["stdout"];
export type GuestError = NonNullable<NonNullable<Manifest["guest"]>["error"]>;

interface Signalled {
    signal?: AbortSignal;
}

/** The text of a value that did not come back as itself: its class is not carried, or it is too large. */
export class Repr {
    constructor(readonly text: string) {}

    toString(): string {
        return this.text;
    }
}

/**
 * A file that the program left below /output. Its content is fetched when it is asked for, and held against the size and the
 * SHA-256 that the launcher recorded. Of a session, a later run may write it anew: then reading is a TamperedError.
 */
export class File {
    readonly path: string;
    readonly bytes: number;
    readonly sha256: string;
    private readonly escaped: boolean;

    constructor(private readonly place: Place, private readonly route: string, entry: Manifest["files"][number]) {
        [this.path, this.bytes, this.sha256] = [entry.path, entry.bytes, entry.sha256];
        this.escaped = entry.escaped === true;
    }

    /** The content. TamperedError if it is not what was recorded. */
    async read(options: Signalled = {}): Promise<Uint8Array> {
        const parts: Uint8Array[] = [];
        for await (const part of this.stream(options)) {
            parts.push(part);
        }
        return joined(parts);
    }

    /** The content in UTF-8. */
    async text(options: Signalled = {}): Promise<string> {
        return Buffer.from(await this.read(options)).toString("utf8");
    }

    /** The content as it comes. If it is not what was recorded, a TamperedError ends it, and what came before is worth nothing. */
    async *stream(options: Signalled = {}): AsyncGenerator<Uint8Array, void, undefined> {
        const answer = await open(this.place, { method: "GET", path: `${this.route}/files/${routeOf(this.path, this.escaped)}`, signal: options.signal });
        const hash = createHash("sha256");
        let bytes = 0;
        try {
            for await (const part of answer.parts()) {
                bytes += part.length;
                if (bytes > this.bytes) {
                    break;
                }
                hash.update(part);
                yield part;
            }
        } finally {
            answer.close();
        }
        if (bytes !== this.bytes || hash.digest("hex") !== this.sha256) {
            throw new TamperedError(`${this.path}: the content is not what was recorded`);
        }
    }

    /** Write the content to a file of this host. The name should be yours: `path` was chosen by the program. */
    async save(path: string | URL, options: Signalled = {}): Promise<void> {
        await writeFile(path, await this.read(options), options.signal ? { signal: options.signal } : {});
    }
}

/** A figure. `chart` is its data as the program's process reports it; undefined without it. */
export class Figure extends File {
    readonly mime: string;
    readonly chart: Readonly<Record<string, unknown>> | undefined;

    constructor(place: Place, route: string, entry: Manifest["figures"][number], chart: unknown) {
        super(place, route, entry);
        this.mime = entry.mime;
        this.chart = chart as Record<string, unknown> | undefined;
    }
}

/** A path as the end of a route; an escaped one has \xHH for bytes, and every backslash doubled. */
export function routeOf(path: string, escaped = false): string {
    const plain = (text: string): string => text.split("/").map(encodeURIComponent).join("/");
    if (!escaped) {
        return plain(path);
    }
    return path.split(/(\\x[0-9a-fA-F]{2}|\\\\)/).map((part) => (part === "\\\\" ? "%5C" : part.startsWith("\\x") ? `%${part.slice(2)}` : plain(part))).join("");
}

/**
 * How a job ended, and its results. The value, the error and returned variables come from the program's own process, and are as
 * trustworthy as the program; the launcher saw all other facts itself.
 */
export class Result {
    readonly manifest: Manifest;
    readonly files: readonly File[];
    readonly figures: readonly Figure[];

    constructor(private readonly place: Place, route: string, manifest: Manifest, readonly toolErrors: readonly unknown[] = []) {
        this.manifest = manifest;
        const charts = new Map((manifest.guest?.figures ?? []).map((figure) => [figure.path, figure.chart]));
        this.files = manifest.files.map((entry) => new File(this.place, route, entry));
        this.figures = manifest.figures.map((entry) => new Figure(this.place, route, entry, charts.get(entry.path)));
    }

    get jobId(): string {
        return this.manifest.job_id;
    }

    get status(): Manifest["status"] {
        return this.manifest.status;
    }

    /** Whether the program ended well. */
    get ok(): boolean {
        return this.status === "ok";
    }

    /** A sentence; null if the program ended well. */
    get reason(): string | null {
        return this.manifest.reason;
    }

    get stdout(): Stream {
        return this.manifest.stdout;
    }

    get stderr(): Stream {
        return this.manifest.stderr;
    }

    /** The part of standard output that was kept. */
    get text(): string {
        return this.stdout.text;
    }

    /** The exception that ended the program. */
    get error(): GuestError | null {
        return this.manifest.guest?.error ?? null;
    }

    get rejection(): Manifest["rejection"] {
        return this.manifest.rejection;
    }

    get denials(): Manifest["denials"] {
        return this.manifest.denials;
    }

    get warnings(): Manifest["warnings"] {
        return this.manifest.warnings;
    }

    get usage(): Manifest["usage"] {
        return this.manifest.usage;
    }

    /** The exit status of a command, as a shell has it; undefined for a program in Python and for a command that was not run. */
    get commandStatus(): number | undefined {
        return this.manifest.code?.command ? this.manifest.guest?.exit : undefined;
    }

    /** The last expression's value by MIME type. */
    get bundle(): Readonly<Record<string, unknown>> {
        return (this.manifest.guest?.value as Record<string, unknown> | null | undefined) ?? {};
    }

    /** The last expression's value, see values.ts; null if there is none. MalformedValue. */
    get value(): unknown {
        const { [MIME]: tagged, "application/json": json, "text/plain": text } = this.bundle;
        if (tagged !== undefined) {
            return untagged(tagged);
        }
        return json !== undefined ? json : typeof text === "string" ? new Repr(text) : null;
    }

    /** What the program showed with display(), in order: each by MIME type. HTML and SVG are the program's. */
    get displays(): ReadonlyArray<Readonly<Record<string, unknown>>> {
        return this.manifest.guest?.displays ?? [];
    }

    /** The dict `results` that the program filled, if the policy gives it one. */
    get results(): unknown {
        return this.manifest.guest?.results;
    }

    /** A variable that the option `returns` asked for. HotcellError with the reason if there is none; MalformedValue. */
    async returned(name: string, options: Signalled = {}): Promise<unknown> {
        const entries = this.manifest.guest?.returned ?? {};
        const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
        if (!entry || entry.error) {
            throw new HotcellError(`${name}: ${entry?.error ?? "it was not asked for"}`);
        }
        const value = "json" in entry ? entry.json : await this.fileValue(entry.path, options);
        return entry.mime === MIME ? untagged(value) : value;
    }

    /** The file or figure of this path. HotcellError if there is none. */
    file(path: string): File {
        const found = [...this.files, ...this.figures].find((file) => file.path === path);
        if (!found) {
            throw new HotcellError(`${path}: there is no such file in the manifest`);
        }
        return found;
    }

    private async fileValue(path: string | undefined, options: Signalled): Promise<unknown> {
        const file = this.file(path ?? "");
        const content = Buffer.from(await file.read(options));
        try {
            return valueOfFile(file.path, content);
        } catch (error) {
            throw error instanceof MalformedValue ? error : new MalformedValue(`${file.path}: ${(error as Error).message}`, { cause: error });
        }
    }
}

/** The program did not end well, and `check` was true. */
export class JobError extends HotcellError {
    constructor(readonly result: Result) {
        const { error } = result;
        super(error ? `${error.type}: ${error.message}` : `${result.status}: ${result.reason}`, { cause: result.toolErrors.at(-1) });
    }
}

/** The result. With `check`, JobError if the program did not end well. */
export function checked<R extends Result>(result: R, check: boolean | undefined): R {
    if (check && !result.ok) {
        throw new JobError(result);
    }
    return result;
}
