/** Server-Sent Events of hotcelld, and those of a job over as many connections as it takes. */

import { setTimeout as sleep } from "node:timers/promises";

import type { components } from "./api.js";
import { DaemonLost, DaemonUnavailable } from "./errors.js";
import { parse } from "./json.js";
import { open, type Answer, type Place } from "./transport.js";

export type JobEvent = components["schemas"]["Event"];
export type SessionEvent = components["schemas"]["SessionEvent"];

const END = "end"; // the ID of the last event of all
const FIRST_WAIT = 100; // milliseconds before the first new connection; each further one waits twice as long
const LONGEST_WAIT = 5_000;

interface Message<E> {
    readonly id: string | undefined;
    readonly event: E;
}

/** The lines of an answer, without their ends. A long line is put together once. */
async function* lines(answer: Answer): AsyncGenerator<string, void, undefined> {
    let rest: Buffer[] = [];
    for await (const part of answer.parts()) {
        let from = 0;
        for (let end = part.indexOf(10); end >= 0; end = part.indexOf(10, from)) {
            rest.push(part.subarray(from, end));
            yield Buffer.concat(rest).toString("utf8").replace(/\r$/, "");
            rest = [];
            from = end + 1;
        }
        rest.push(part.subarray(from));
    }
}

/** The events of an answer, with their IDs. DaemonLost: the connection broke, or these are no events. */
export async function* messages<E extends JobEvent | SessionEvent>(place: Place, answer: Answer): AsyncGenerator<Message<E>, void, undefined> {
    let id: string | undefined;
    let data: string[] = [];
    try {
        if (!answer.header("content-type").startsWith("text/event-stream")) {
            throw new DaemonLost(`${place.name}: the answer has no events`);
        }
        for await (const line of lines(answer)) {
            if (line.startsWith("data:")) {
                data.push(line.slice(line[5] === " " ? 6 : 5));
            } else if (line.startsWith("id:")) {
                id = line.slice(3).trim();
            } else if (line === "" && data.length > 0) {
                yield { id, event: eventOf<E>(place, data.join("\n")) };
                [id, data] = [undefined, []];
            }
        }
    } finally {
        answer.close();
    }
}

function eventOf<E>(place: Place, text: string): E {
    try {
        const event: unknown = parse(text);
        if (typeof event === "object" && event !== null && "event" in event && typeof event.event === "string") {
            return event as E;
        }
    } catch (error) {
        throw new DaemonLost(`${place.name}: no event: ${(error as Error).message}`, { cause: error });
    }
    throw new DaemonLost(`${place.name}: no event`);
}

export interface EventsOptions {
    /** Begin behind the event with this ID, such as `lastEventId` of another iteration. */
    lastEventId?: string;
    /** How many connections may fail or break one after the other, without an event between them. 8: half a minute or so. */
    retries?: number;
    signal?: AbortSignal;
}

/**
 * The events of a job, from its beginning and as they happen, until its end. If the connection breaks, another one goes on behind
 * the last event. An event "gap" tells that events were lost meanwhile.
 *
 * Iterating throws NotFound, DaemonUnavailable if there is no daemon at first, DaemonLost if it does not come back, and the
 * signal's reason.
 */
export class JobEvents implements AsyncIterable<JobEvent> {
    /** The ID of the last event that was given out. */
    lastEventId: string | undefined;

    constructor(private readonly place: Place, private readonly path: string, private readonly options: EventsOptions = {}) {
        this.lastEventId = options.lastEventId;
    }

    async *[Symbol.asyncIterator](): AsyncGenerator<JobEvent, void, undefined> {
        const { retries = 8, signal } = this.options;
        let [begun, failures, wait] = [false, 0, FIRST_WAIT];
        for (;;) {
            let broken: unknown;
            try {
                const answer = await this.connect(signal);
                begun = true;
                if (answer.status === 204) {
                    answer.close();
                    return;
                }
                for await (const { id, event } of messages<JobEvent>(this.place, answer)) {
                    this.lastEventId = id ?? this.lastEventId;
                    [failures, wait] = [0, FIRST_WAIT];
                    yield event;
                    if (id === END) {
                        return;
                    }
                }
                broken = new DaemonLost(`${this.place.name}: the events of the job ended before the job`);
            } catch (error) {
                if (!(error instanceof DaemonLost) && !(begun && error instanceof DaemonUnavailable)) {
                    throw error;
                }
                broken = error;
            }
            if (++failures > retries) {
                throw broken instanceof DaemonLost ? broken : new DaemonLost((broken as Error).message, { cause: broken });
            }
            await pause(wait, signal);
            wait = Math.min(2 * wait, LONGEST_WAIT);
        }
    }

    private connect(signal: AbortSignal | undefined): Promise<Answer> {
        const headers: Record<string, string> = { Accept: "text/event-stream" };
        if (this.lastEventId !== undefined) {
            headers["Last-Event-ID"] = this.lastEventId;
        }
        return open(this.place, { method: "GET", path: this.path, headers, signal });
    }
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    try {
        await sleep(milliseconds, undefined, signal ? { signal } : {});
    } catch (error) {
        signal?.throwIfAborted();
        throw error;
    }
}
