/** Dates and times of Python as points in time. */

import { MalformedValue } from "./errors.js";

const DAY = 86_400_000; // milliseconds
const EPOCH_OF_SHORT_YEARS = 400; // Date.UTC takes years below 100 for those of the last century

/** The point in time that a clock in UTC calls so; `text` is a date, or a date with a time, of datetime.isoformat(). */
export function instantOf(text: unknown): number {
    const match = typeof text === "string" && /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?$/.exec(text);
    if (!match) {
        throw new MalformedValue("no date");
    }
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0));
    const cycle = year < 100 ? EPOCH_OF_SHORT_YEARS : 0;
    const milliseconds = Math.floor(Number((match[7] ?? "0").padEnd(6, "0")) / 1000);
    const time = Date.UTC(year + cycle, month - 1, day, hour, minute, second, milliseconds);
    return cycle === 0 ? time : time - 146_097 * DAY; // the days of four hundred years
}

/** Milliseconds of the days, seconds and microseconds of a timedelta. */
export function deltaOf(content: unknown): number {
    const [days, seconds, microseconds] = numbers(content, 3);
    return days! * DAY + seconds! * 1000 + microseconds! / 1000;
}

export function numbers(content: unknown, count: number): number[] {
    if (!Array.isArray(content) || content.length !== count || !content.every((part) => typeof part === "number")) {
        throw new MalformedValue(`expected ${count} numbers`);
    }
    return content as number[];
}

/** The point in time that a clock of this zone calls so. A time without a zone is taken for one in UTC. */
export function inZone(wall: number, zone: unknown, fold: number): number {
    if (zone === null) {
        return wall;
    }
    const [kind, ...rest] = Array.isArray(zone) ? (zone as unknown[]) : [];
    if (kind === "utc" || kind === "dateutil_utc") {
        return wall;
    }
    if (kind === "offset" || kind === "pytz_offset") {
        return wall - deltaOf(rest.slice(0, 3));
    }
    if ((kind === "zoneinfo" || kind === "pytz") && typeof rest[0] === "string") {
        return inNamedZone(wall, rest[0], fold);
    }
    throw new MalformedValue("no kind of a time zone");
}

function inNamedZone(wall: number, name: string, fold: number): number {
    const clock = clockOf(name);
    const before = offsetAt(clock, wall - DAY);
    const after = offsetAt(clock, wall + DAY);
    const found = [before, after].filter((offset) => offsetAt(clock, wall - offset) === offset);
    if (found.length === 0) {
        return wall - (fold ? after : before); // in a gap, as datetime.utcoffset() says
    }
    return wall - (fold ? Math.min(...found) : Math.max(...found));
}

function clockOf(name: string): Intl.DateTimeFormat {
    try {
        return new Intl.DateTimeFormat("en-US", {
            timeZone: name, hourCycle: "h23", era: "short", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
        });
    } catch (error) {
        throw new MalformedValue(`no time zone that this host knows: ${name.slice(0, 64)}`, { cause: error });
    }
}

/** How far the clock is ahead of UTC at a point in time, in milliseconds. */
function offsetAt(clock: Intl.DateTimeFormat, time: number): number {
    const second = Math.floor(time / 1000) * 1000;
    const parts = Object.fromEntries(clock.formatToParts(second).map((part) => [part.type, part.value]));
    const [year, month, day, hour, minute, s] = ["year", "month", "day", "hour", "minute", "second"].map((name) => (parts[name] ?? "0").padStart(2, "0"));
    const shown = parts["era"] === "BC" ? "0000" : (year ?? "").padStart(4, "0");
    return instantOf(`${shown}-${month}-${day}T${hour}:${minute}:${s}`) - second;
}
