/**
 * Values of Python, from JSON with tags: {"$tuple": [1, 2]}. What they become:
 *
 *     None, bool, str, list, tuple          null, boolean, string, Array, Array
 *     int                                   number; BigInt beyond 2^53
 *     float, nan and inf too                number
 *     dict with names as keys; others       object; Map
 *     set, frozenset                        Set
 *     bytes, bytearray                      Uint8Array
 *     date, datetime, pandas.Timestamp      Date (to the millisecond; without a time zone: as if in UTC)
 *     timedelta, pandas.Timedelta           number of milliseconds
 *     UUID, Path                            string
 *     SimpleNamespace                       object
 *     NaT, NA                               null
 *     numpy scalars                         as int, float, bool, str, bytes, date
 *     numpy arrays                          NdArray
 *     DataFrame, Series, Index              Frame, Series, Array of labels (of a MultiIndex: Arrays)
 *     Decimal, complex, range, time,        PythonValue, which has the tag's content
 *     Period, Interval
 *
 * The JSON may come from a hostile program: what is not well formed is a MalformedValue.
 */

import { NdArray, readNpy, readNpz } from "./arrays.js";
import { MalformedValue } from "./errors.js";
import { parse } from "./json.js";
import { deltaOf, inZone, instantOf, numbers } from "./zones.js";

export const MIME = "application/vnd.hotcell.value+json";
const HEADER = "__hotcell_value__"; // the member of a .npz file that has the JSON
const DEEPEST = 96;
const MOST = 20_000_000; // values of one document
const UNIT_MS: Readonly<Record<string, number>> = { D: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, ns: 1e-6 };
const NAT = -(2n ** 63n);

/** A value that has no counterpart here. `kind` is its tag, `content` what the tag has: of a Decimal its text. */
export class PythonValue {
    constructor(readonly kind: string, readonly content: unknown) {}

    toString(): string {
        return typeof this.content === "string" ? this.content : `${this.kind}(${JSON.stringify(this.content)})`;
    }
}

/** A Series of pandas. */
export class Series {
    constructor(readonly name: unknown, readonly index: readonly unknown[], readonly values: readonly unknown[]) {}
}

/** A DataFrame of pandas: labels of its columns and rows, and the values of each column. Missing values are null. */
export class Frame {
    constructor(readonly columns: readonly unknown[], readonly index: readonly unknown[], readonly data: ReadonlyArray<readonly unknown[]>) {}

    /** The values of a column. RangeError if there is none of this label. */
    column(label: unknown): readonly unknown[] {
        const column = this.data[this.columns.indexOf(label)];
        if (!column) {
            throw new RangeError(`there is no column ${String(label)}`);
        }
        return column;
    }

    /** An object for each row, without the row's label. */
    rows(): Array<Record<string, unknown>> {
        return this.index.map((_, row) => Object.fromEntries(this.columns.map((label, column) => [String(label), this.data[column]?.[row]])));
    }
}

type Node = Readonly<Record<string, unknown>>;
type Reader = (content: unknown, depth: number) => unknown;

class Decoder {
    private count = 0;

    constructor(private readonly get: (name: unknown) => NdArray) {}

    decode(node: unknown, depth: number): unknown {
        this.add(1);
        if (depth > DEEPEST) {
            throw new MalformedValue("nested too deeply");
        }
        if (Array.isArray(node)) {
            return this.items(node, depth);
        }
        if (typeof node !== "object" || node === null) {
            return node;
        }
        const members = Object.entries(node);
        const [name, content] = members[0] ?? ["", undefined];
        if (members.length === 1 && name.startsWith("$")) {
            const reader = Object.hasOwn(this.readers, name) ? this.readers[name] : undefined;
            if (!reader) {
                throw new MalformedValue(`no tag of a value: ${name.slice(0, 50)}`);
            }
            return reader(content, depth + 1);
        }
        return Object.fromEntries(members.map(([key, item]) => [key, this.decode(item, depth + 1)]));
    }

    private add(count: number): void {
        this.count += count;
        if (!(this.count <= MOST)) {
            throw new MalformedValue("too many values");
        }
    }

    private items(nodes: unknown, depth: number): unknown[] {
        return listOf(nodes).map((item) => this.decode(item, depth + 1));
    }

    /** A long list, which may be in an array. */
    private list(content: unknown): unknown[] {
        if (typeof content !== "string") {
            return listOf(content);
        }
        const { data } = this.get(content);
        return listOf(parse(Buffer.from(data as Uint8Array).toString("utf8")));
    }

    private readonly readers: Readonly<Record<string, Reader>> = {
        $int: (content) => bigOf(textOf(content)), $float: floatOf, $str: (content) => wideText(bytesOf(content)),
        $dict: (content, depth) => new Map(listOf(content).map((pair) => {
            const [key, value] = this.items(pair, depth);
            return [key, value];
        })),
        $tuple: (content, depth) => this.items(content, depth), $set: (content, depth) => new Set(this.items(content, depth)),
        $frozenset: (content, depth) => new Set(this.items(content, depth)),
        $bytes: (content) => new Uint8Array(bytesOf(content)), $bytearray: (content) => new Uint8Array(bytesOf(content)),
        $complex: this.kept("complex"), $range: this.kept("range"), $decimal: (content) => new PythonValue("decimal", textOf(content)),
        $time: this.kept("time"), $period: this.kept("period"), $interval: this.kept("interval"),
        $path: (content, depth) => textOf(this.decode(content, depth)), $purepath: (content, depth) => textOf(this.decode(content, depth)),
        $namespace: (content, depth) => this.decode(content, depth), $uuid: textOf,
        $date: (content) => new Date(instantOf(content)), $datetime: dateOf, $timedelta: deltaOf,
        $timestamp: (content) => new Date(instantIn(...countOf(content))), $timedelta64: (content) => lengthIn(...countOf(content)), $nat: () => null, $na: () => null,
        $ndarray: (content) => this.get(content), $objects: (content, depth) => {
            const [shape, items] = listOf(content);
            const array = new NdArray("object", listOf(shape).map(Number), this.items(this.list(items), depth));
            if (array.shape.reduce((count, length) => count * length, 1) !== array.data.length) {
                throw new MalformedValue("an array with more or fewer items than it says");
            }
            return array;
        },
        $numpy: (content, depth) => {
            const [kind, data] = listOf(content);
            return kind === "S" || kind === "U" ? this.decode(data, depth) : scalarOf(textOf(kind), bytesOf(data));
        },
        $index: (content, depth) => this.index(nodeOf(content), depth),
        $series: (content, depth) => {
            const series = nodeOf(content);
            const values = this.column(nodeOf(series["data"]), depth);
            return new Series(this.decode(series["name"], depth), this.index(nodeOf(series["index"]), depth, values.length), values);
        },
        $frame: (content, depth) => {
            const frame = nodeOf(content);
            const data = listOf(frame["data"]).map((column) => this.column(nodeOf(column), depth));
            const index = this.index(nodeOf(frame["index"]), depth, data[0]?.length);
            const columns = this.index(nodeOf(frame["columns"]), depth, data.length);
            if (data.some((column) => column.length !== index.length)) {
                throw new MalformedValue("a column that is not as long as the index");
            }
            return new Frame(columns, index, data);
        },
    };

    private kept(kind: string): Reader {
        return (content, depth) => new PythonValue(kind, this.items(content, depth));
    }

    /** The labels of an index, of which there have to be `length`. */
    private index(content: Node, depth: number, length?: number): unknown[] {
        if (depth > DEEPEST) {
            throw new MalformedValue("nested too deeply");
        }
        const labels = this.labels(content, depth);
        if (length !== undefined && labels.length !== length) {
            throw new MalformedValue("an index of another length");
        }
        return labels;
    }

    private labels(content: Node, depth: number): unknown[] {
        if ("levels" in content) {
            const levels = listOf(content["levels"]).map((level) => this.index(nodeOf(level), depth + 2));
            const codes = listOf(content["codes"]).map((name) => plain(this.get(name)));
            return (codes[0] ?? []).map((_, row) => levels.map((level, at) => level[Number(codes[at]?.[row])] ?? null));
        }
        if ("range" in content) {
            const [start, stop, step] = numbers(content["range"], 3) as [number, number, number];
            const length = Math.max(0, Math.ceil((stop - start) / step));
            this.add(length);
            return Array.from({ length }, (_, i) => start + i * step);
        }
        return this.column(nodeOf(content["data"]), depth + 1);
    }

    private column(content: Node, depth: number): unknown[] {
        if (depth > DEEPEST) {
            throw new MalformedValue("nested too deeply");
        }
        if ("plain" in content || "zoned" in content) {
            return plain(this.get(content["plain"] ?? content["zoned"]));
        }
        if ("objects" in content || "strings" in content) {
            return this.items(this.list(content["objects"] ?? content["strings"]), depth);
        }
        if ("codes" in content) {
            const categories = this.index(nodeOf(content["categories"]), depth + 1);
            return plain(this.get(content["codes"])).map((code) => categories[Number(code)] ?? null);
        }
        if ("periods" in content) {
            return plain(this.get(content["periods"])).map((ordinal) => new PythonValue("period", [ordinal, content["freq"]]));
        }
        if ("left" in content) {
            const right = this.column(nodeOf(content["right"]), depth + 1);
            const left = this.column(nodeOf(content["left"]), depth + 1);
            return left.map((bound, at) => new PythonValue("interval", [bound, right[at], content["closed"]]));
        }
        if ("sparse" in content) {
            return this.sparse(content, depth);
        }
        if ("values" in content) {
            const mask = plain(this.get(content["mask"]));
            return plain(this.get(content["values"])).map((value, at) => (mask[at] ? null : value));
        }
        throw new MalformedValue("no kind of a column");
    }

    private sparse(content: Node, depth: number): unknown[] {
        const length = Number(content["length"]);
        this.add(length);
        const column = new Array<unknown>(length).fill(this.decode(content["fill"], depth));
        const values = plain(this.get(content["sparse"]));
        for (const [i, at] of plain(this.get(content["at"])).entries()) {
            if (!(Number(at) >= 0 && Number(at) < length)) {
                throw new MalformedValue("a value behind the end of a sparse column");
            }
            column[Number(at)] = values[i];
        }
        return column;
    }
}

/** The items of an array of one dimension as plain values: 64-bit integers are numbers if a number holds each of them. */
function plain({ dtype, shape, data }: NdArray): unknown[] {
    if (shape.length !== 1 || shape[0] !== data.length) {
        throw new MalformedValue("an array of a wrong kind");
    }
    const kind = dtype[1];
    if (kind === "b") {
        return Array.from(data as Uint8Array, Boolean);
    }
    if (kind === "M" || kind === "m") {
        const unit = unitOf(dtype);
        return Array.from(data as BigInt64Array, (count) => timeOf(kind, count, unit));
    }
    if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
        const items: bigint[] = Array.from(data);
        return items.every(isSafe) ? items.map(Number) : items;
    }
    return Array.from(data as ArrayLike<unknown>);
}

function isSafe(value: bigint): boolean {
    return Number.isSafeInteger(Number(value));
}

function unitOf(dtype: string): number {
    const [, count = "", unit = ""] = /\[(\d*)([A-Za-z]+)\]$/.exec(dtype) ?? [];
    const length = UNIT_MS[unit];
    if (length === undefined) {
        throw new MalformedValue("a unit of time that is not known");
    }
    return length * Number(count || 1);
}

/** A Date, or the milliseconds of a length of time; null for NaT. */
function timeOf(kind: "M" | "m", count: bigint, unit: number): Date | number | null {
    if (count === NAT) {
        return null;
    }
    return kind === "M" ? new Date(instantIn(count, unit)) : lengthIn(count, unit);
}

/** The last whole millisecond of so many units since 1970, without loss on the way. */
function instantIn(count: bigint, unit: number): number {
    if (unit >= 1) {
        return Number(count) * unit;
    }
    const parts = BigInt(Math.round(1 / unit));
    return Number(count / parts) - (count < 0n && count % parts !== 0n ? 1 : 0);
}

/** Milliseconds of so many units. */
function lengthIn(count: bigint, unit: number): number {
    return unit >= 1 ? Number(count) * unit : Number(count) / Math.round(1 / unit);
}

function scalarOf(dtype: string, bytes: Buffer): unknown {
    if (!/^[<>|=][biufcmM][0-9]{1,2}(\[[0-9]{0,9}[A-Za-z]{1,2}\])?$/.test(dtype)) {
        throw new MalformedValue("no dtype of a scalar");
    }
    const size = Number(/[0-9]+/.exec(dtype)?.[0]);
    if (size !== bytes.length) {
        throw new MalformedValue("a scalar of another size");
    }
    const header = Buffer.from(`{'descr': '${dtype}', 'fortran_order': False, 'shape': (1,), }`);
    const file = Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), Buffer.from([header.length, 0]), header, bytes]);
    const array = readNpy(file);
    return array.data.length === 1 ? plain(array)[0] : new PythonValue("numpy", [dtype, array.data]);
}

function listOf(node: unknown): unknown[] {
    if (!Array.isArray(node)) {
        throw new MalformedValue("expected a list");
    }
    return node as unknown[];
}

function nodeOf(node: unknown): Node {
    if (typeof node !== "object" || node === null || Array.isArray(node)) {
        throw new MalformedValue("expected an object");
    }
    return node as Node;
}

function textOf(node: unknown): string {
    if (typeof node !== "string") {
        throw new MalformedValue("expected a text");
    }
    return node;
}

function bytesOf(node: unknown): Buffer {
    const text = textOf(node);
    if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
        throw new MalformedValue("no base64");
    }
    return Buffer.from(text, "base64");
}

function bigOf(text: string): bigint {
    const [, sign, digits] = /^(-?)(?:0x)?([0-9a-f]+)$/i.exec(text) ?? [];
    if (digits === undefined) {
        throw new MalformedValue("no whole number");
    }
    return sign ? -BigInt(`0x${digits}`) : BigInt(`0x${digits}`);
}

function floatOf(content: unknown): number {
    const found = { nan: NaN, inf: Infinity, "-inf": -Infinity }[textOf(content)];
    if (found === undefined) {
        throw new MalformedValue("no number");
    }
    return found;
}

/** The text of UTF-8 in which halves of surrogate pairs may stand for themselves. */
function wideText(bytes: Buffer): string {
    const parts: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
        const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
        if (second >= 0xa0) {
            parts.push(bytes.toString("utf8", from, at), String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f)));
            from = at + 3;
        }
    }
    parts.push(bytes.toString("utf8", from));
    return parts.join("");
}

function dateOf(content: unknown): Date {
    const [text, fold, zone, offset] = listOf(content);
    const wall = instantOf(text);
    return new Date(offset === null || offset === undefined ? inZone(wall, zone, Number(fold)) : wall - deltaOf(offset));
}

/** Number of units of a Timestamp or a Timedelta of pandas, and the milliseconds of one. */
function countOf(content: unknown): [bigint, number] {
    const [count, unit] = listOf(content);
    const length = UNIT_MS[textOf(unit)];
    if (!(typeof count === "bigint" || Number.isSafeInteger(count)) || length === undefined) {
        throw new MalformedValue("no time");
    }
    return [BigInt(count as number | bigint), length];
}

function decoded(decoder: Decoder, node: unknown): unknown {
    try {
        return decoder.decode(node, 0);
    } catch (error) {
        throw error instanceof MalformedValue ? error : new MalformedValue((error as Error).message, { cause: error });
    }
}

/** The value of JSON with tags. MalformedValue. */
export function untagged(node: unknown): unknown {
    return decoded(new Decoder((text) => readNpy(bytesOf(text))), node);
}

/** The value in a file that has returned a variable, by the file's ending. MalformedValue. */
export function valueOfFile(path: string, content: Buffer): unknown {
    if (path.endsWith(".npy")) {
        return readNpy(content);
    }
    if (path.endsWith(".json")) {
        return parse(content.toString("utf8"));
    }
    if (path.endsWith(".jsonl")) {
        return content.toString("utf8").split("\n").filter(Boolean).map(parse);
    }
    return path.endsWith(".npz") ? packed(content) : path.endsWith(".csv") ? content.toString("utf8") : new Uint8Array(content);
}

function packed(content: Buffer): unknown {
    const members = readNpz(content);
    const header = members.get(HEADER);
    if (!header) {
        return new Map([...members].map(([name, file]) => [name, readNpy(file)]));
    }
    const decoder = new Decoder((name) => {
        const file = members.get(textOf(name));
        if (!file) {
            throw new MalformedValue("no name of an array");
        }
        members.delete(textOf(name)); // each is named once
        return readNpy(file);
    });
    return decoded(decoder, parse(Buffer.from(readNpy(header).data as Uint8Array).toString("utf8")));
}
