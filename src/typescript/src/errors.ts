/** The exceptions of this package. A program that fails is a result and no exception, unless `check` is true. */

import type { components } from "./api.js";

export type Retry = components["schemas"]["Problem"]["retry"];
export type ProblemDocument = components["schemas"]["Problem"];
export type Manifest = components["schemas"]["Manifest"];
export type ExceededLimit = NonNullable<ProblemDocument["limits"]>[number];

/** Base of all exceptions of this package. */
export class HotcellError extends Error {
    constructor(message: string, options?: { cause?: unknown }) {
        super(message, options);
        this.name = new.target.name;
    }
}

/** An option or an argument is wrong. */
export class UsageError extends HotcellError {}

/** A file, the program or a value cannot be sent. */
export class InputError extends HotcellError {}

/** A file is not what the launcher recorded: its size or its SHA-256 differs from the manifest's. */
export class TamperedError extends HotcellError {}

/** The daemon's or the program's process has sent a value that is not well formed. */
export class MalformedValue extends HotcellError {}

/** No daemon listens at the address. Nothing was sent. */
export class DaemonUnavailable extends HotcellError {
    readonly retry: Retry = "not_started";
}

/**
 * The connection broke, or the server is no hotcelld. `job(jobId)` tells how the job ended, unless the daemon was killed; for a
 * job from `submit` it does so even then. `jobId` is undefined if it is not known.
 */
export class DaemonLost extends HotcellError {
    readonly retry: Retry = "started_outcome_unknown";
    jobId: string | undefined;
}

/** The session has ended, and its state is lost. `reason`: hotcelld(8), SESSIONS; `manifest`: of the whole session. */
export class SessionEnded extends HotcellError {
    constructor(readonly reason: string, readonly manifest: Manifest | undefined, options?: { cause?: unknown }) {
        super(`the session has ended: ${reason}`, options);
    }
}

/** A member of a document that somebody else than hotcelld may have written. */
function textOr(member: unknown, other: string): string {
    return typeof member === "string" ? member : other;
}

/** The daemon refused a request with a problem document (RFC 9457), which is `document`. */
export class Problem extends HotcellError {
    readonly document: Partial<ProblemDocument>;
    /** The HTTP status. */
    readonly status: number;
    readonly title: string;
    readonly detail: string;
    /** The problem's type without its prefix, such as "not-found". */
    readonly kind: string;
    /** What became of the job: only after "not_started" it is safe to send the same request again. */
    readonly retry: Retry;
    /** Seconds to wait. */
    readonly retryAfter: number | undefined;
    /** The quota that is used up. */
    readonly quota: string | undefined;
    /** The limits that the request exceeds. */
    readonly limits: readonly ExceededLimit[];
    readonly jobId: string | undefined;
    /** Of a launch that failed. */
    readonly manifest: Manifest | undefined;

    constructor(document: Partial<ProblemDocument>, status: number) {
        const detail = textOr(document.detail, `hotcelld answers with status ${status}`).replace(/^(?:standard input|request|run):\d+:\d+: /, "");
        super(detail);
        this.document = document;
        this.status = document.status ?? status;
        this.title = textOr(document.title, "");
        this.detail = detail;
        this.kind = textOr(document.type, "").split(":").at(-1) ?? "";
        this.retry = document.retry ?? "started_outcome_unknown";
        this.retryAfter = document.retry_after;
        this.quota = document.quota;
        this.limits = Array.isArray(document.limits) ? document.limits : [];
        this.jobId = document.job_id;
        this.manifest = document.manifest;
    }
}

/** The job or the request is not valid. */
export class InputProblem extends Problem {}

/** The policy or tree does not exist, or is not for this tenant; or the job asks for more than `limits` allow. */
export class PolicyProblem extends Problem {}

/** The daemon wants a valid token, and got none: status 401. */
export class AuthProblem extends PolicyProblem {}

/** The cell could not be made, or the daemon has failed or is about to stop. */
export class LaunchProblem extends Problem {}

/** A quota of the tenant is used up. */
export class QuotaProblem extends Problem {}

/** There is no such job, file or session, or it is another tenant's. */
export class NotFound extends Problem {}

const KINDS: Readonly<Record<number, typeof Problem>> = {
    400: InputProblem, 401: AuthProblem, 403: PolicyProblem, 404: NotFound, 409: InputProblem, 410: NotFound, 413: InputProblem,
    415: InputProblem, 422: PolicyProblem, 429: QuotaProblem,
};
const KINDS_OF_LAUNCH: Readonly<Record<number, typeof Problem>> = { 65: InputProblem, 69: LaunchProblem, 70: LaunchProblem, 78: PolicyProblem };

/** The exception for a problem document. */
export function problemOf(document: Partial<ProblemDocument>, status = 0): Problem {
    const found = document.status ?? status;
    const launch = document.manifest && KINDS_OF_LAUNCH[document.manifest.exit_code];
    return new (launch ?? KINDS[found] ?? LaunchProblem)(document, found);
}

/** The exception for an answer whose body should be a problem document. */
export function problemOfBody(status: number, body: Uint8Array): Problem {
    try {
        const document: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
        return problemOf(typeof document === "object" && document !== null ? document : {}, status);
    } catch (error) {
        if (error instanceof SyntaxError) {
            return problemOf({}, status);
        }
        throw error;
    }
}
