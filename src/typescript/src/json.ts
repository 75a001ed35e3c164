/** JSON without loss: whole numbers that a double cannot hold become BigInt, and what JSON would drop in silence is refused. */

import { randomUUID } from "node:crypto";

const MARK = `${randomUUID()}:`; // nobody who writes JSON for us can know it
const LONG = /[0-9]{16}/;
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/g;

/** The value of a JSON text. Whole numbers beyond 2^53 become BigInt. SyntaxError: it is no JSON. */
export function parse(text: string): unknown {
    if (!LONG.test(text)) {
        return JSON.parse(text);
    }
    const marked = markLong(text);
    return JSON.parse(marked, (_, value: unknown) => (typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value));
}

/** The text with a marked string in the place of each whole number that is too large. */
function markLong(text: string): string {
    const parts: string[] = [];
    let at = 0;
    while (at < text.length) {
        const quote = text.indexOf('"', at);
        const between = text.slice(at, quote < 0 ? text.length : quote);
        parts.push(LONG.test(between) ? between.replace(NUMBER, marked) : between);
        if (quote < 0) {
            break;
        }
        at = endOfString(text, quote);
        parts.push(text.slice(quote, at));
    }
    return parts.join("");
}

function marked(number: string): string {
    return /^-?[0-9]+$/.test(number) && !Number.isSafeInteger(Number(number)) ? `"${MARK}${number}"` : number;
}

/** The place behind the closing quote of the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
    for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
        let escapes = 0;
        while (text[end - 1 - escapes] === "\\") {
            escapes++;
        }
        if (escapes % 2 === 0) {
            return end + 1;
        }
    }
    return text.length;
}

/** The JSON text of a value. TypeError for a value that JSON cannot hold, such as NaN, a Map or a function. */
export function stringify(value: unknown): string {
    return JSON.stringify(value, strict) ?? "null";
}

function strict(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
    const [whole, where] = [this[key], key && ` (${key})`]; // a Buffer has made itself an object already
    if (typeof value === "number" && !Number.isFinite(value)) {
        throw new TypeError(`JSON cannot hold ${value}${where}`);
    }
    if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
        throw new TypeError(`JSON cannot hold a ${typeof value}${where}: convert it first, such as with String()`);
    }
    if (whole instanceof Map || whole instanceof Set || ArrayBuffer.isView(whole) || whole instanceof ArrayBuffer) {
        throw new TypeError(`JSON cannot hold a ${whole.constructor.name}${where}: make it an array or an object, or give it as an input`);
    }
    return value;
}
