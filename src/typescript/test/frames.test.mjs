import assert from "node:assert/strict";
import { test } from "node:test";

import { Frame, NdArray, Series } from "hotcell";
import { BOUNDS, local } from "./common.mjs";

const WIDE = { ...BOUNDS, tree: "scientific", memory: "1G", check: true };

test("arrays and scalars of numpy", async () => {
    const code = `
import numpy as np
[np.array([[1.5, 2], [3, 4]]), np.arange(3), np.asfortranarray(np.arange(6, dtype='int32').reshape(2, 3)), np.array([1, 2], dtype='>u2'), np.array(['a', 'bcd']),
 np.array([1, None, 'x'], dtype=object), np.zeros((0, 2)), np.array(5.0), np.array([True, False]), np.float32(0.5), np.int64(2**60), np.bool_(True), np.str_('s'),
 np.datetime64('2024-01-02T03:04:05.678', 'ms'), np.array([b'ab'])]`;
    const [floats, ints, fortran, swapped, texts, objects, none, zero, truth, f, i, b, s, when, raw] = (await local().run(code, WIDE)).value;
    assert.ok(floats instanceof NdArray && floats.data instanceof Float64Array);
    assert.deepEqual([floats.shape, floats.toArray()], [[2, 2], [[1.5, 2], [3, 4]]]);
    assert.deepEqual(ints.data, BigInt64Array.of(0n, 1n, 2n));
    assert.deepEqual([fortran.toArray(), [...fortran.data]], [[[0, 1, 2], [3, 4, 5]], [0, 1, 2, 3, 4, 5]]);
    assert.deepEqual([[...swapped.data], texts.data, objects.data, none.toArray(), zero.toArray(), [...truth.data]], [[1, 2], ["a", "bcd"], [1, null, "x"], [], 5, [1, 0]]);
    assert.deepEqual([f, i, b, s, when.toISOString()], [0.5, 2n ** 60n, true, "s", "2024-01-02T03:04:05.678Z"]);
    assert.deepEqual([raw.dtype, Buffer.from(raw.data).toString()], ["|S2", "ab"]);
});

test("frames and series of pandas, in the manifest and in files", async () => {
    const code = `
import pandas as pd, numpy as np
df = pd.DataFrame({'n': [1, 2, 3], 'x': [0.5, float('nan'), 2], 's': ['a', 'b', None], 't': pd.to_datetime(['2024-01-02', None, '2024-01-04T05:06:07.008']),
    'c': pd.Categorical(['u', 'v', 'u']), 'i': pd.array([1, None, 3], dtype='Int64'), 'b': [True, False, True],
    'z': pd.to_datetime(['2024-07-01T12:00'] * 3).tz_localize('Europe/Zurich'), 'd': pd.to_timedelta([1, 2, None], unit='s')}, index=['p', 'q', 'r'])
big = pd.DataFrame({'a': np.arange(300000), 'b': np.arange(300000) / 2, 'w': ['word'] * 300000})
many = pd.Series([1, 2], index=pd.MultiIndex.from_tuples([('a', 1), ('b', 2)]), name='m')
sparse = pd.DataFrame({'s': pd.arrays.SparseArray([0, 0, 7])})
[df, many, sparse, pd.Timestamp('2024-01-02T03:04:05', tz='UTC'), pd.Timedelta('1s'), pd.NaT, pd.Timestamp('1969-12-31T23:59:59.9999') , pd.Timestamp('2024-01-02T03:04:05.999999999'), pd.Index([1, 2]), pd.Period('2024-01', 'M')]`;
    const result = await local().run(code, { ...WIDE, returns: ["df", "big"] });
    const [df, many, sparse, stamp, delta, nat, before, after, index, period] = result.value;
    assert.ok(df instanceof Frame && many instanceof Series);
    assert.deepEqual([df.columns, df.index], [["n", "x", "s", "t", "c", "i", "b", "z", "d"], ["p", "q", "r"]]);
    assert.deepEqual([df.column("n"), df.column("x"), df.column("s"), df.column("c"), df.column("i"), df.column("b")],
        [[1, 2, 3], [0.5, NaN, 2], ["a", "b", null], ["u", "v", "u"], [1, null, 3], [true, false, true]]);
    assert.deepEqual(df.column("t").map((date) => date && date.toISOString()), ["2024-01-02T00:00:00.000Z", null, "2024-01-04T05:06:07.008Z"]);
    assert.equal(df.column("z")[0].toISOString(), "2024-07-01T10:00:00.000Z");
    assert.deepEqual(df.column("d"), [1000, 2000, null]);
    assert.deepEqual(df.rows()[0].n, 1);
    assert.throws(() => df.column("none"), RangeError);
    assert.deepEqual([many.name, many.index, many.values], ["m", [["a", 1], ["b", 2]], [1, 2]]);
    assert.deepEqual(sparse.column("s"), [0, 0, 7]);
    assert.deepEqual([stamp.toISOString(), delta, nat, index, period.kind], ["2024-01-02T03:04:05.000Z", 1000, null, [1, 2], "period"]);
    assert.deepEqual([before.toISOString(), after.toISOString()], ["1969-12-31T23:59:59.999Z", "2024-01-02T03:04:05.999Z"]);
    assert.deepEqual((await result.returned("df")).column("n"), [1, 2, 3]);
    assert.ok(result.files.length > 0, "the large frame is in a file");
    const big = await result.returned("big");
    assert.deepEqual([big.index.length, big.column("a")[299_999], big.column("b")[3], big.column("w")[5]], [300_000, 299_999, 1.5, "word"]);
});

test("times of named zones", async () => {
    const code = `
import datetime, zoneinfo
z = zoneinfo.ZoneInfo('Europe/Zurich')
values = [datetime.datetime(2024, 10, 27, 2, 30, fold=fold, tzinfo=z) for fold in (0, 1)] + [datetime.datetime(2024, m, 31, 2, 30, tzinfo=z) for m in (3, 7)]
(values, [v.timestamp() for v in values])`;
    const [values, seconds] = (await local().run(code, WIDE)).value;
    assert.deepEqual(values.map((date) => date.getTime() / 1000), seconds);
});

test("figures are bytes with a MIME type and a chart", async () => {
    const result = await local().run("import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\nplt.show()", { ...WIDE, policy: "default" });
    const [figure] = result.figures;
    assert.equal(figure.mime, "image/png");
    assert.deepEqual([...(await figure.read()).subarray(1, 4)], [...Buffer.from("PNG")]);
    assert.ok(figure.chart === undefined || typeof figure.chart === "object");
});
