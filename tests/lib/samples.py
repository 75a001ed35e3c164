"""Values of every type that goes into a cell and comes back, as Python expressions, and a description of a value that tells every
difference; both are evaluated on the host and in cells, so that the descriptions can be compared."""

IMPORTS = """\
import datetime, decimal, uuid
import numpy as np, pandas as pd
from datetime import timedelta, timezone
from decimal import Decimal
"""

DESCRIBE = '''
def zone_of(zone):
    return None if zone is None else (type(zone).__module__, type(zone).__name__, str(zone), repr(zone))

def describe(value):
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, pd.DataFrame):
        return [kind, describe(value.columns), describe(value.index), describe(value.attrs),
                [describe(value.iloc[:, at]) for at in range(value.shape[1])]]
    if isinstance(value, pd.Series):
        return [kind, repr(value.dtype), zone_of(getattr(value.dtype, "tz", None)), describe(value.name), describe(value.index),
                categories(value.dtype), [describe(item) for item in value]]
    if isinstance(value, pd.MultiIndex):
        return [kind, describe(list(value.names)), [describe(level) for level in value.levels], [list(map(int, c)) for c in value.codes]]
    if isinstance(value, pd.Index):
        return [kind, repr(value.dtype), zone_of(getattr(value.dtype, "tz", None)), describe(value.name), str(getattr(value, "freq", None)),
                categories(value.dtype), [describe(item) for item in value]]
    if isinstance(value, np.ndarray):
        return [kind, value.dtype.descr, value.shape, [describe(item) for item in value.ravel().tolist()]]
    if isinstance(value, np.generic):
        return [kind, value.dtype.str, value.tobytes().hex()]
    if isinstance(value, dict):
        return [kind, [[describe(key), describe(item)] for key, item in value.items()]]
    if isinstance(value, (list, tuple)):
        return [kind, [describe(item) for item in value]]
    if isinstance(value, (set, frozenset)):
        return [kind, sorted(repr(describe(item)) for item in value)]
    if isinstance(value, (datetime.datetime, datetime.time)) and value is not pd.NaT:
        return [kind, repr(value.replace(tzinfo=None)), value.fold, str(value.utcoffset()), zone_of(value.tzinfo)]
    return [kind, repr(value)]

def categories(dtype):
    return [describe(dtype.categories), dtype.ordered] if isinstance(dtype, pd.CategoricalDtype) else None
'''

SCALARS = {
    "nothing": "None", "truth": "[True, False]", "integers": "[0, -1, 2**53 + 1, 2**63 - 1, -2**63, 2**63, 2**200, -2**200]",
    "floats": "[0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, float('nan'), float('inf'), float('-inf')]", "nan": "float('nan')",
    "texts": "['', 'a', 'ä€😀', 'a\\0b', '\\ud800', '\\r\\n\\t\\x7f\\x85\\u2028', '$', '\\\\\"']", "one text": "'\\ud800'",
    "tuples": "[(), (1,), (1, (2, [3]))]", "tuple": "(1, 'a')", "lists": "[[], [[]], [1, [2, [3]]]]",
    "dicts": "[{}, {'a': 1}, {1: 2, None: 3, (1, 2): 4, 1.5: 5, b'k': 6}, {'$tuple': [1]}, {'$x': 1, 'y': 2}, {'a\\0': 1}, {True: 0}]",
    "sets": "[set(), {1, 'a', (2,)}, frozenset(), frozenset({frozenset({1})})]",
    "bytes": "[b'', b'\\0\\xff', bytes(range(256)), bytearray(b'ab')]",
    "complexes": "[1j, -0.0 - 1j, complex(float('nan'), float('-inf'))]",
    "decimals": "[Decimal('1.10'), Decimal('-0'), Decimal('NaN'), Decimal('sNaN'), Decimal('Infinity'), Decimal('1E+1000'), "
                "Decimal('0.' + '1' * 60)]",
    "dates": "[datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]",
    "times": "[datetime.time(), datetime.time(1, 2, 3, 4, fold=1), datetime.time(1, tzinfo=timezone.utc)]",
    "datetimes": "[datetime.datetime(1, 1, 1), datetime.datetime(2024, 10, 27, 2, 30, 0, 1, fold=1), "
                 "datetime.datetime(2024, 1, 2, tzinfo=timezone.utc), datetime.datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=-3, "
                 "seconds=7))), datetime.datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=1), 'here'))]",
    "zoned datetimes": "[__import__('pytz').timezone('Europe/Berlin').localize(datetime.datetime(2024, 10, 27, 2, 30), is_dst=False), "
                       "datetime.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=__import__('zoneinfo').ZoneInfo('Europe/Berlin')), "
                       "datetime.datetime(2024, 1, 1, tzinfo=__import__('pytz').UTC)]",
    "timedeltas": "[timedelta(), timedelta(-1, 5, 7), timedelta.max]", "ids": "[uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)]",
    "paths": "[__import__('pathlib').Path('a/b'), __import__('pathlib').PosixPath('/'), __import__('pathlib').PurePosixPath('ä')]",
    "namespaces": "[__import__('types').SimpleNamespace(), __import__('types').SimpleNamespace(a=(1, [2]), b=b'x')]",
    "ranges": "[range(0), range(5), range(10, -10, -3)]",
    "numpy scalars": "[np.int8(-1), np.uint64(2**64 - 1), np.float32(0.1), np.float64('nan'), np.bool_(True), np.complex64(1j), "
                     "np.datetime64('2024-01-02'), np.datetime64('NaT', 'ns'), np.timedelta64(5, 'ms'), np.str_('ä'), np.bytes_(b'x'), "
                     "np.float16(1), np.longdouble(1) / 3]",
    "numpy scalar": "np.float64(1)",
    "pandas scalars": "[pd.Timestamp('2024-01-02 03:04:05.123456789'), pd.Timestamp('2024-10-27 00:30', tz='UTC').tz_convert('Europe/Berlin'), pd.NaT, pd.NA, "
                      "pd.Timedelta('1 days 00:00:00.000000001'), pd.Period('2024-03', 'M'), pd.Interval(0, 1.5, closed='both'), "
                      "pd.Interval(pd.Timestamp('2024'), pd.Timestamp('2025'))]",
}

ARRAYS = {
    "small": "np.arange(6, dtype='int16').reshape(2, 3)", "fortran": "np.asfortranarray(np.arange(6.).reshape(2, 3))",
    "big endian": "np.arange(3, dtype='>f8')", "zero dim": "np.array(5)", "empty": "np.zeros((0, 3))",
    "truths": "np.array([True, False])", "complex": "np.array([1j, complex('nan')])", "half": "np.array([1, 2], dtype='float16')",
    "instants": "np.array(['2024-01-02', 'NaT'], dtype='datetime64[D]')", "spans": "np.array([1, -1], dtype='timedelta64[ms]')",
    "raw": "np.array([b'a', b'bc'])", "texts": "np.array(['a', 'äöü'])",
    "structured": "np.array([(1, 2.5, b'x')], dtype=[('a', 'i4'), ('b', 'f8'), ('c', 'S3')])",
    "objects": "np.array([[Decimal('1.1'), None], ['x', [1, 2]]], dtype=object)", "strided": "np.arange(10)[::3]",
}

COLUMNS = {
    "numbers": "[1, 2, 3]", "floats": "[0.1, float('nan'), -0.0]", "truths": "[True, False, True]", "texts": "['007', '', 'ä€😀\\0']",
    "text and none": "['a', None, float('nan')]", "mixed": "[1, 'a', 2.5]",
    "nothings": "pd.Series([None, float('nan'), pd.NaT, pd.NA][:3], dtype=object)", "na": "pd.Series([pd.NA, None, 1], dtype=object)",
    "decimals": "[Decimal('1.10'), Decimal('2.20'), None]", "dates": "[datetime.date(2024, 1, 2), None, datetime.date(1, 1, 1)]",
    "times": "[datetime.time(1, 2), None, datetime.time(3)]",
    "datetimes": "pd.Series([datetime.datetime(1, 1, 1), pd.Timestamp('2024'), datetime.datetime(2024, 1, 1, tzinfo=timezone.utc)], dtype=object)",
    "spans": "pd.Series([timedelta(1), pd.Timedelta(5), np.timedelta64(3, 's')], dtype=object)",
    "bytes": "[b'', b'\\0\\xff', bytearray(b'x')]", "ids": "[uuid.UUID(int=1), uuid.UUID(int=2), None]", "sets": "[{1}, frozenset({2}), set()]",
    "embeddings": "[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]", "tuples": "[(1, 2), (3, 4), (5, 6)]", "ragged": "[[1], [], [1, [2, 3]]]",
    "dicts": "[{'a': 1}, {1: 2}, {}]", "one dict": "pd.Series([{'a': [1]}] * 3)", "arrays": "pd.Series([np.arange(2), np.arange(2), None])",
    "large": "[2**200, -2**200, 1]", "numpy objects": "pd.Series([np.int8(1), np.float32(0.5), np.str_('x')], dtype=object)",
    "complex": "[1j, 2j, complex('nan')]", "small": "np.array([1, 2, 3], dtype='uint8')", "single": "np.array([0.1, 0.2, 0.3], dtype='float32')",
    "category": "pd.Categorical(['b', 'a', None], categories=['a', 'b', 'c'])", "ordered": "pd.Categorical([3, 1, 2], categories=[3, 2, 1], ordered=True)",
    "categories of dates": "pd.Categorical(pd.to_datetime(['2024-01-01', '2024-01-02', '2024-01-01']))",
    "categories of objects": "pd.Categorical([(1, 2), 'a', Decimal('1.5')], categories=pd.Index([(1, 2), 'a', Decimal('1.5')], tupleize_cols=False))",
    "instants": "pd.DatetimeIndex(np.array(['2024-01-02T03:04:05.123456789', 'NaT', '1700-01-01'], 'M8[ns]'))", "durations": "pd.to_timedelta(['1 day', None, '5 ns'])",
    "zone": "pd.DatetimeIndex(['2024-10-27 00:30', None, '2024-10-27 01:30'], tz='UTC').tz_convert('Europe/Berlin')",
    "zone of zoneinfo": "pd.DatetimeIndex(['2024-10-27 00:30'] * 3, tz='UTC').tz_convert(__import__('zoneinfo').ZoneInfo('America/New_York'))",
    "utc": "pd.DatetimeIndex(['2024-01-01'] * 3, tz='UTC')", "utc of datetime": "pd.DatetimeIndex(['2024-01-01'] * 3, tz=timezone.utc)",
    "offset": "pd.DatetimeIndex(['2024-01-01'] * 3, tz=timezone(timedelta(hours=5, minutes=30)))",
    "offset of pytz": "pd.to_datetime(['2024-01-01 00:00+02:00'] * 3)",
    "intervals": "pd.interval_range(0, 3)", "closed": "pd.arrays.IntervalArray.from_tuples([(0.5, 1.5), None, (2, 3)], closed='both')",
    "intervals of instants": "pd.interval_range(pd.Timestamp('2024', tz='Europe/Berlin'), periods=3)",
    "months": "pd.PeriodIndex(['2024-01', None, '1800-12'], freq='M')", "quarters": "pd.PeriodIndex(['2024Q1'] * 3, freq='Q-NOV')",
    "two hours": "pd.PeriodIndex(['2024-01-01 02:00'] * 3, freq='2H')",
    "sparse": "pd.arrays.SparseArray([0, 0, 5])", "sparse floats": "pd.arrays.SparseArray([float('nan'), 1.5, float('nan')])",
    "sparse full": "pd.arrays.SparseArray([0.0, 1.0, 2.0], fill_value=7.0)", "sparse truths": "pd.arrays.SparseArray([True, False, False])",
    "Int64": "pd.array([1, None, -2**63], dtype='Int64')", "UInt8": "pd.array([255, None, 0], dtype='UInt8')",
    "Float32": "pd.array([0.5, None, 1], dtype='Float32')", "boolean": "pd.array([True, None, False], dtype='boolean')",
    "string": "pd.array(['a', None, 'ä\\0'], dtype='string')",
    "NaN in Float64": "pd.Series([0.0, 1.0, None], dtype='Float64') / pd.Series([0.0, 1.0, 1.0], dtype='Float64')",
}

INDEXES = {
    "named": "pd.Index(['a', 'b', 'c'], name='i')", "named by a tuple": "pd.Index([1, 2, 3], name=('a', 1))", "counts": "pd.RangeIndex(3, name='n')",
    "steps": "pd.RangeIndex(5, 11, 2)", "floats": "pd.Index([0.5, 1.5, float('nan')])", "repeated": "pd.Index([1, 1, 1])",
    "truths": "pd.Index([True, False, True])",
    "dates": "pd.Index([datetime.date(2024, 1, 1), None, 'x'])", "days": "pd.date_range('2024-01-31', periods=3, freq='M', tz='Europe/Berlin', name='t')",
    "spans": "pd.timedelta_range('1h', periods=3, freq='H')", "months": "pd.period_range('2024-01', periods=3, freq='M')",
    "intervals": "pd.interval_range(0, 3, name='bin')", "category": "pd.CategoricalIndex(['x', 'y', 'x'], ordered=True)",
    "tuples": "pd.Index([(1, 2), (3,), ()], tupleize_cols=False)", "Int64": "pd.Index([1, None, 3], dtype='Int64')",
    "unsigned": "pd.Index([1, 2, 2**64 - 1], dtype='uint64')",
    "levels": "pd.MultiIndex.from_tuples([(1, 'x'), (2, 'y'), (2, None)], names=['n', None])",
    "unused levels": "pd.MultiIndex.from_product([['a', 'b'], pd.date_range('2024', periods=2)], names=['a', 'a'])[[0, 3, 3]]",
}

FRAMES = {
    "every column": "pd.DataFrame({name: pd.Series(value) for name, value in columns.items()})",
    "columns twice": "pd.DataFrame([[1, 'x', 2.5]], columns=['a', 'b', 'a'])", "columns of numbers": "pd.DataFrame([[1, 2]])",
    "columns of all kinds": "pd.DataFrame([[1, 2, 3, 4]], columns=pd.Index([1, 'a', None, datetime.date(2024, 1, 1)], dtype=object, name='c'))",
    "columns in levels": "pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([('a', 1), ('a', 2)], names=['l', None]))",
    "columns of dates": "pd.DataFrame([[1, 2]], columns=pd.date_range('2024', periods=2))", "nothing": "pd.DataFrame()",
    "no rows": "pd.DataFrame({'a': np.array([], 'int64'), 's': np.array([], object), 'c': pd.Categorical([]), 't': pd.DatetimeIndex([], tz='UTC')})",
    "only sparse": "pd.DataFrame({'a': pd.arrays.SparseArray([0, 0, 5]), 'b': pd.arrays.SparseArray([0, 1, 0])})",
    "no columns": "pd.DataFrame(index=pd.Index([1, 2], name='i'))",
    "attributes": "pd.DataFrame({'a': [1]}).pipe(lambda f: (f.attrs.update(u={'x': (1,)}), f)[1])",
    "both in levels": "pd.DataFrame([[1, 2], [3, 4]], index=pd.MultiIndex.from_tuples([('a', 1), ('b', 2)]), "
                      "columns=pd.MultiIndex.from_tuples([('x', 'y'), ('x', 'z')]))",
}

OTHERS = {
    "series": "pd.Series([Decimal('1.5'), None], index=['a', 'b'], name=('n', 1))", "category": "pd.Series(['a', 'b', 'a'], dtype='category')",
    "zoned series": "pd.Series(pd.date_range('2024', periods=2, tz='Europe/Berlin'), name='t')", "empty series": "pd.Series([], dtype='Int64')",
}


def source():
    """A program's beginning: it makes `samples`, {kind: {name: value}}, and the function describe."""
    def dict_of(table):
        return "{%s}" % ", ".join(f"{name!r}: {text}" for name, text in table.items())
    frames = {**FRAMES, **{f"index {name}": f"pd.DataFrame({{'a': [1, 2, 3]}}, index={text})" for name, text in INDEXES.items()}}
    return (f"{IMPORTS}{DESCRIBE}\ncolumns = {dict_of(COLUMNS)}\nsamples = dict(scalars={dict_of(SCALARS)}, arrays={dict_of(ARRAYS)},\n"
            f"    frames={dict_of(frames)}, others={dict_of({**OTHERS, **INDEXES})})\n")


def made():
    """(samples, describe) on the host."""
    space = {}
    exec(source(), space)  # texts of this file
    return space["samples"], space["describe"]
