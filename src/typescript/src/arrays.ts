/** Arrays of numpy: .npy files, and .npz files, which are archives of them. What is read may come from a hostile program. */

import { MalformedValue } from "./errors.js";

export type ArrayData = Float64Array | Float32Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array
    | BigUint64Array | string[] | unknown[];

const LONGEST_HEADER = 10_000;
const TYPED = {
    f8: Float64Array, f4: Float32Array, i1: Int8Array, i2: Int16Array, i4: Int32Array, i8: BigInt64Array, u1: Uint8Array, u2: Uint16Array,
    u4: Uint32Array, u8: BigUint64Array, b1: Uint8Array, M8: BigInt64Array, m8: BigInt64Array,
} as const;

/**
 * An array of numpy. `data` has its items one behind the other, in the order of C (the last index runs fastest): a typed array of
 * numbers; of `datetime64` and `timedelta64` (dtype "<M8[ns]" and the like) a BigInt64Array of their units; text as strings; of
 * dtype "object" whatever they are; float16, longdouble, complex, bytes and structured items as their bytes.
 */
export class NdArray {
    constructor(readonly dtype: string, readonly shape: readonly number[], readonly data: ArrayData) {}

    /** The same as nested arrays. */
    toArray(): unknown {
        const nest = (axis: number, from: number, count: number): unknown => {
            const length = this.shape[axis];
            if (length === undefined) {
                return this.data[from];
            }
            const step = length === 0 ? 0 : count / length;
            return Array.from({ length }, (_, i) => nest(axis + 1, from + i * step, step));
        };
        return nest(0, 0, this.data.length);
    }
}

/** The array of a .npy file. */
export function readNpy(file: Buffer): NdArray {
    const version = file[6];
    if (file.length < 12 || file.toString("latin1", 0, 6) !== "\x93NUMPY" || version === undefined || version < 1 || version > 3) {
        throw new MalformedValue("no .npy file");
    }
    const [size, begin] = version === 1 ? [file.readUInt16LE(8), 10] : [file.readUInt32LE(8), 12];
    const header = file.toString(version === 3 ? "utf8" : "latin1", begin, begin + Math.min(size, LONGEST_HEADER));
    const shape = /'shape': *\(([0-9, ]*)\)/.exec(header)?.[1]?.split(",").filter((part) => part.trim()).map(Number);
    const descr = /'descr': *'([^']{1,100})'/.exec(header)?.[1];
    const order = /'fortran_order': *(True|False)/.exec(header)?.[1];
    if (!shape || !order || size > LONGEST_HEADER || !shape.every(Number.isSafeInteger)) {
        throw new MalformedValue("a .npy file with another header");
    }
    const bytes = file.subarray(begin + size);
    const array = descr === undefined ? new NdArray("structured", shape, copyOf(bytes)) : arrayOf(descr, shape, bytes);
    return order === "True" && shape.length > 1 && array.data.length === product(shape) ? rowsFirst(array) : array;
}

function product(shape: readonly number[]): number {
    return shape.reduce((count, length) => count * length, 1);
}

function copyOf(bytes: Buffer): Uint8Array {
    return new Uint8Array(bytes);
}

function arrayOf(dtype: string, shape: readonly number[], bytes: Buffer): NdArray {
    const [, order = "", kind = "", digits = ""] = /^([<>|=])([a-zA-Z])([0-9]{0,9})/.exec(dtype) ?? [];
    const size = Number(digits) * (kind === "U" ? 4 : 1);
    if (!kind || product(shape) * size !== bytes.length) {
        throw new MalformedValue("an array with more or fewer bytes than it says");
    }
    if (kind === "U") {
        return new NdArray(dtype, shape, texts(bytes, size, order === ">", product(shape)));
    }
    const own = copyOf(bytes);
    if (order === ">" && "fiuMm".includes(kind)) {
        swap(own, size);
    }
    const Kind = TYPED[(kind + digits) as keyof typeof TYPED];
    return new NdArray(dtype, shape, Kind ? new Kind(own.buffer as ArrayBuffer) : own);
}

function swap(bytes: Uint8Array, size: number): void {
    for (let at = 0; at < bytes.length; at += size) {
        bytes.subarray(at, at + size).reverse();
    }
}

function texts(bytes: Buffer, size: number, big: boolean, count: number): string[] {
    return Array.from({ length: size === 0 ? 0 : count }, (_, i) => {
        const points: number[] = [];
        for (let at = i * size; at < (i + 1) * size; at += 4) {
            points.push(big ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
        }
        while (points.at(-1) === 0) {
            points.pop();
        }
        if (points.some((point) => point > 0x10ffff)) {
            throw new MalformedValue("a text with characters that there are not");
        }
        return points.map((point) => String.fromCodePoint(point)).join("");
    });
}

/** The same array with its items in the order of C. */
function rowsFirst({ dtype, shape, data }: NdArray): NdArray {
    const ordered = data.slice();
    const index = new Array<number>(shape.length).fill(0);
    for (let to = 0; to < data.length; to++) {
        let from = 0;
        for (let axis = shape.length - 1; axis >= 0; axis--) {
            from = from * (shape[axis] ?? 0) + (index[axis] ?? 0);
        }
        ordered[to] = data[from] as never;
        for (let axis = shape.length - 1; axis >= 0; axis--) {
            index[axis] = (index[axis] ?? 0) + 1;
            if (index[axis] !== shape[axis]) {
                break;
            }
            index[axis] = 0;
        }
    }
    return new NdArray(dtype, shape, ordered);
}

/** The members of a .npz file by name, without ".npy". Nothing in it may be compressed, as nothing is that hotcell writes. */
export function readNpz(file: Buffer): Map<string, Buffer> {
    const end = file.lastIndexOf("PK\x05\x06", undefined, "latin1");
    if (end < 0 || end + 22 > file.length) {
        throw new MalformedValue("no .npz file");
    }
    const members = new Map<string, Buffer>();
    let at = file.readUInt32LE(end + 16);
    for (let left = file.readUInt16LE(end + 10); left > 0; left--) {
        if (at + 46 > file.length || file.readUInt32LE(at) !== 0x02014b50) {
            throw new MalformedValue("a .npz file with a broken directory");
        }
        const [nameLength, extraLength, commentLength] = [file.readUInt16LE(at + 28), file.readUInt16LE(at + 30), file.readUInt16LE(at + 32)];
        const name = file.toString("utf8", at + 46, at + 46 + nameLength).replace(/\.npy$/, "");
        if (members.has(name)) {
            throw new MalformedValue("a .npz file with two members of one name");
        }
        members.set(name, member(file, at));
        at += 46 + nameLength + extraLength + commentLength;
    }
    return members;
}

function member(file: Buffer, entry: number): Buffer {
    const [method, size, full, local] = [file.readUInt16LE(entry + 10), file.readUInt32LE(entry + 20), file.readUInt32LE(entry + 24), file.readUInt32LE(entry + 42)];
    if (method !== 0 || size !== full || local + 30 > file.length || file.readUInt32LE(local) !== 0x04034b50) {
        throw new MalformedValue("a .npz file that is compressed, or broken");
    }
    const begin = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    if (begin + size > file.length) {
        throw new MalformedValue("a .npz file with members larger than it is");
    }
    return file.subarray(begin, begin + size);
}
