/** The client of a hotcelld. */

import type { components, operations } from "./api.js";
import { DaemonLost } from "./errors.js";
import { Uploads, refuseOthers, specOf, type JobOptions, type Program } from "./inputs.js";
import { Job, runJob, quoted, type JobInfo, type WaitOptions } from "./job.js";
import { Result } from "./results.js";
import { Sessions } from "./session.js";
import { ask, findPlace, open, type Place } from "./transport.js";

type Schemas = components["schemas"];

interface Signalled {
    signal?: AbortSignal;
}

export interface DaemonOptions {
    /** The path of the daemon's socket, or http://HOST:PORT; https://HOST:PORT of a server in front of it that encrypts; with /PREFIX
     * behind it if the daemon's routes begin with that there. Without it $HOTCELL_SOCKET. */
    socket?: string;
    /** The tenant's bearer token, for URLs only. Without it $HOTCELL_TOKEN. */
    token?: string;
    /** The certificates of the authorities that vouch for an https:// server. Without it those that Node.js trusts. */
    caFile?: string;
}

/**
 * A client of hotcelld, which runs programs in cells. A request that the daemon refuses throws a Problem, whose `retry` says whether
 * it is safe to send it again; DaemonUnavailable: no daemon listens at the address.
 *
 *     const daemon = new Daemon({ socket: "/run/hotcell/hotcelld.sock" });
 *     const result = await daemon.run("print(6 * 7)");
 */
export class Daemon {
    /** Interpreters that keep their state from run to run. */
    readonly sessions: Sessions;
    private readonly place: Place;

    constructor(options: DaemonOptions = {}) {
        const { socket, token, caFile, ...others } = options;
        refuseOthers(others);
        this.place = findPlace(socket, token, caFile);
        this.sessions = new Sessions(this.place);
    }

    /** Run a program, Python as text or a command as a list, and wait for its end. Aborting the signal ends the job. */
    async run(program: Program, options: JobOptions & WaitOptions = {}): Promise<Result> {
        const { onEvent, check, signal, ...rest } = options;
        const spec = { ...specOf(program, rest), interface: "http" };
        const uploads = new Uploads(this.place, signal);
        try {
            const body = await uploads.body(spec, rest.inputs);
            return await runJob(this.place, body, rest.tools, options);
        } finally {
            await uploads.forget();
        }
    }

    /**
     * Send a job that goes on without this process. `key`: the same key and job again stand for the same job. Tools are answered
     * while job.result() waits.
     */
    async submit(program: Program, options: JobOptions & Signalled & { key?: string } = {}): Promise<Job> {
        const { key, signal, ...rest } = options;
        const spec = { ...specOf(program, rest), interface: "http" };
        const body = await new Uploads(this.place, signal, key === undefined ? "once" : "again").body(spec, rest.inputs);
        const headers = { Prefer: "respond-async", ...(key === undefined ? {} : { "Idempotency-Key": key }) };
        const info = (await ask(this.place, { method: "POST", path: "/v1/jobs", body, headers, signal })) as JobInfo | undefined;
        if (typeof info?.job_id !== "string") {
            throw new DaemonLost(`${this.place.name}: it does not say which job it runs`);
        }
        return new Job(this.place, info.job_id, rest.tools);
    }

    /** The job of this id. The first request tells whether there is one. */
    job(id: string): Job {
        return new Job(this.place, id);
    }

    /** The tenant's jobs, newest first. */
    async jobs(filter: NonNullable<operations["listJobs"]["parameters"]["query"]> & Signalled = {}): Promise<JobInfo[]> {
        const { signal, ...rest } = filter;
        const query = new URLSearchParams(Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)])).toString();
        return ((await ask(this.place, { method: "GET", path: `/v1/jobs${query && `?${query}`}`, signal })) as Schemas["Jobs"]).jobs;
    }

    /** The names of the policies that the tenant may use. */
    async policies(options: Signalled = {}): Promise<string[]> {
        return ((await ask(this.place, { method: "GET", path: "/v1/policies", signal: options.signal })) as Schemas["Policies"]).policies;
    }

    /** What the writer of a program should know of the cell that it will run in, as text. */
    async card(policy?: string, options: Signalled = {}): Promise<string> {
        const query = policy === undefined ? "" : `?${new URLSearchParams({ policy }).toString()}`;
        const answer = await open(this.place, { method: "GET", path: `/v1/card${query}`, headers: { Accept: "text/plain" }, signal: options.signal });
        return (await answer.whole()).toString("utf8");
    }

    /** The tenant's volumes. */
    async volumes(options: Signalled = {}): Promise<Array<Schemas["Volume"]>> {
        return ((await ask(this.place, { method: "GET", path: "/v1/volumes", signal: options.signal })) as Schemas["VolumeList"]).volumes;
    }

    /** Remove a volume with all that is in it. */
    async removeVolume(name: string, options: Signalled = {}): Promise<void> {
        await ask(this.place, { method: "DELETE", path: `/v1/volumes/${quoted(name, "volume")}`, signal: options.signal });
    }

    /** Whether the daemon takes jobs; a LaunchProblem if it does not. */
    async health(options: Signalled = {}): Promise<Schemas["Health"]> {
        return (await ask(this.place, { method: "GET", path: "/healthz", signal: options.signal })) as Schemas["Health"];
    }
}
