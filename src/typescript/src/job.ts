/** A job, from its acceptance to its end. */

import type { components } from "./api.js";
import { DaemonLost, NotFound, problemOf, type Manifest, type ProblemDocument } from "./errors.js";
import { JobEvents, messages, type EventsOptions, type JobEvent } from "./events.js";
import { Result, checked, routeOf } from "./results.js";
import { Answerer, type Tools } from "./tools.js";
import { ask, open, type Answer, type Place } from "./transport.js";

export type JobInfo = components["schemas"]["Job"];

export interface WaitOptions {
    /** Is called with each event; what it throws, or the promise of it, ends the wait. The next event waits for its promise. */
    onEvent?: (event: JobEvent) => unknown;
    /** Throw a JobError if the program does not end well. */
    check?: boolean;
    signal?: AbortSignal;
}

/** An id as one part of a route. NotFound for a text that cannot be one. */
export function quoted(name: string, what: string): string {
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$/.test(name)) {
        throw new NotFound({ type: "urn:hotcell:problem:not-found", title: "Not Found", status: 404, retry: "not_started", detail: `there is none of this ${what}: ${JSON.stringify(name)}` }, 404);
    }
    return name;
}

export function jobPath(id: string): string {
    return `/v1/jobs/${quoted(id, "job id")}`;
}

/** What the events of a job tell until its end; its tools are answered meanwhile. */
export class Follower {
    jobId: string | undefined;
    private manifest: Manifest | undefined;
    private problem: ProblemDocument | undefined;
    private readonly answerer: Answerer;
    private readonly broken = new AbortController();

    constructor(private readonly place: Place, private readonly tools: Tools | undefined, private readonly options: WaitOptions) {
        this.answerer = new Answerer(place, () => jobPath(this.jobId ?? ""), tools ?? {});
    }

    /** Aborted with the caller's signal, and if an answer to a tool cannot be sent. */
    get signal(): AbortSignal {
        return this.broken.signal;
    }

    /** Take all events; the result. The job's Problem; DaemonLost if they end before the job. */
    async follow(begin: (signal: AbortSignal) => Promise<AsyncIterable<JobEvent>>): Promise<Result> {
        const { signal } = this.options;
        const forward = (): void => this.broken.abort(signal?.reason);
        signal?.addEventListener("abort", forward);
        try {
            signal?.throwIfAborted();
            for await (const event of await begin(this.broken.signal)) {
                this.see(event);
                await this.options.onEvent?.(event);
                this.broken.signal.throwIfAborted();
            }
            return checked(this.result(), this.options.check);
        } catch (error) {
            if (error instanceof DaemonLost) {
                error.jobId ??= this.jobId;
            }
            throw error;
        } finally {
            signal?.removeEventListener("abort", forward);
            this.answerer.end();
        }
    }

    /** Whether the job has ended, as far as its events have told. */
    get ended(): boolean {
        return this.manifest !== undefined || this.problem !== undefined;
    }

    private see(event: JobEvent): void {
        if (event.event === "manifest") {
            this.manifest = event.manifest;
        } else if (event.event === "problem") {
            this.problem = event.problem;
        } else if (event.event === "tool_call" && this.tools) {
            this.answerer.take(event, (error) => this.broken.abort(error));
        }
    }

    private result(): Result {
        if (this.problem) {
            throw problemOf(this.problem);
        }
        if (!this.manifest) {
            throw new DaemonLost(`${this.place.name}: the events of the job ended before the job`);
        }
        const { manifest } = this;
        return readable(this.place, () => new Result(this.place, jobPath(this.jobId ?? manifest.job_id), manifest, this.answerer.errors));
    }
}

/** What is made of a manifest. DaemonLost: it is none. */
export function readable<R>(place: Place, make: () => R): R {
    try {
        return make();
    } catch (error) {
        throw new DaemonLost(`${place.name}: the manifest is not as it should be: ${(error as Error).message}`, { cause: error });
    }
}

/** Run a job and wait for its end. Over a Unix socket it ends with the connection, elsewhere it is told to. */
export async function runJob(place: Place, body: string, tools: Tools | undefined, options: WaitOptions): Promise<Result> {
    const follower = new Follower(place, tools, options);
    try {
        return await follower.follow(async (signal) => {
            const answer = await open(place, { method: "POST", path: "/v1/jobs", body, headers: { Accept: "text/event-stream" }, signal });
            follower.jobId = idOf(place, answer);
            return eventsOf(place, answer);
        });
    } catch (error) {
        if (!place.unix && follower.jobId !== undefined && !follower.ended) {
            await cancelJob(place, follower.jobId, AbortSignal.timeout(5_000)).catch(() => undefined); // the first error is told
        }
        throw error;
    }
}

function idOf(place: Place, answer: Answer): string {
    const id = /\/v1\/jobs\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,63})$/.exec(answer.header("location"))?.[1];
    if (id === undefined) {
        answer.close();
        throw new DaemonLost(`${place.name}: it does not say which job it runs`);
    }
    return id;
}

async function* eventsOf(place: Place, answer: Answer): AsyncGenerator<JobEvent, void, undefined> {
    for await (const { event } of messages<JobEvent>(place, answer)) {
        yield event;
    }
}

export async function cancelJob(place: Place, id: string, signal: AbortSignal | undefined): Promise<JobInfo> {
    return (await ask(place, { method: "POST", path: `${jobPath(id)}/cancel`, signal })) as JobInfo;
}

/** A job of the daemon, known by its id. All methods throw NotFound if there is none. */
export class Job {
    constructor(private readonly place: Place, readonly id: string, private readonly tools?: Tools) {}

    /** The daemon's record of the job: its state, and its manifest or problem once it has ended. */
    async info(options: { signal?: AbortSignal } = {}): Promise<JobInfo> {
        return (await ask(this.place, { method: "GET", path: jobPath(this.id), signal: options.signal })) as JobInfo;
    }

    /** The events of the job; see JobEvents. */
    events(options: EventsOptions = {}): JobEvents {
        return new JobEvents(this.place, `${jobPath(this.id)}/events`, options);
    }

    /** Wait for the job's end, answer its tools meanwhile, and over broken connections. Aborting the signal ends the wait alone. */
    async result(options: WaitOptions & { tools?: Tools } = {}): Promise<Result> {
        const follower = new Follower(this.place, options.tools ?? this.tools, options);
        follower.jobId = this.id;
        return follower.follow((signal) => Promise.resolve(this.events({ signal })));
    }

    /** End the job. One that has ended stays as it is. */
    async cancel(options: { signal?: AbortSignal } = {}): Promise<JobInfo> {
        return cancelJob(this.place, this.id, options.signal);
    }

    /** Remove the job with its files if it has ended; else end it. */
    async delete(options: { signal?: AbortSignal } = {}): Promise<void> {
        await ask(this.place, { method: "DELETE", path: jobPath(this.id), signal: options.signal });
    }

    /** The content of a file or figure by its path in the manifest, or of a figure that an event has told of. It is held against no hash: `result.file` is. */
    async file(path: string, options: { signal?: AbortSignal } = {}): Promise<Uint8Array> {
        const answer = await open(this.place, { method: "GET", path: `${jobPath(this.id)}/files/${routeOf(path)}`, signal: options.signal });
        return new Uint8Array(await answer.whole());
    }
}
