"""Permissions for pandas' writers of the caller's own frames, as figures.py gives them for drawing."""

from __future__ import annotations

import datetime
import os
import re
from typing import Any, Dict, Mapping, Sequence

from .allow import AllowPolicy, Dests, allow, chk_dest

# Writers of DataFrame and Series, with the keyword of the argument that says where to; it can be the first one, too. Those that
# write elsewhere than to a file (to_sql, to_gbq, to_clipboard) are not here, nor is to_hdf, which unpickles what is in the file already.
WRITERS: Dict[str, str] = {
    "to_csv": "path_or_buf", "to_excel": "excel_writer", "to_feather": "path", "to_html": "buf",
    "to_json": "path_or_buf", "to_latex": "buf", "to_markdown": "buf", "to_orc": "path", "to_parquet": "path",
    "to_pickle": "path", "to_stata": "path", "to_string": "buf", "to_xml": "path_or_buffer",
}
# Options of all writers that are data alone. Not here are functions (formatters, default_handler), other places (stylesheet,
# partition_cols, storage_options), and what is handed on to a library (engine_kwargs).
OPTIONS = frozenset("""
    sep na_rep float_format columns header index index_label mode encoding compression quoting quotechar lineterminator line_terminator
    chunksize date_format doublequote escapechar decimal errors sheet_name startrow startcol engine merge_cells inf_rep freeze_panes
    orient double_precision force_ascii date_unit lines indent col_space sparsify index_names justify max_rows max_cols min_rows
    show_dimensions bold_rows classes escape notebook border table_id render_links line_width max_colwidth column_format longtable
    multicolumn multicolumn_format multirow caption label position protocol convert_dates write_index byteorder time_stamp data_label
    variable_labels version convert_strl value_labels root_name row_name attr_cols elem_cols namespaces prefix xml_declaration
    pretty_print parser tablefmt floatfmt dtype length name
""".split())
PLAIN = (type(None), bool, int, float, complex, str, bytes, datetime.date, datetime.datetime)


class WriterPolicy(AllowPolicy):
    """The first argument, or the keyword `kw`, is a path below ok_dests; without one the writer returns a text. URLs, which
    pandas writes to as well, are denied. Options have their names in OPTIONS and are data."""

    def __init__(self, kw: str) -> None:
        self.kw = kw

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        self._check_options(args, kwargs)
        dest = args[0] if args else kwargs.get(self.kw)
        if dest is None:
            return
        if not isinstance(dest, (str, os.PathLike)) or re.match(r"[A-Za-z][\w+.-]*:", str(os.fspath(dest))):
            raise PermissionError(f"Dest {dest!r} not allowed: only a path is")
        chk_dest(dest, ok_dests)

    def _check_options(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if len(args) > 1:
            raise PermissionError("all arguments but the first have to be given by their names")
        for name, value in kwargs.items():
            if name == self.kw:
                continue
            if name not in OPTIONS:
                raise PermissionError(f"the option {name!r} is not allowed")
            if not _is_plain(value) or name == "compression" and not isinstance(value, (str, type(None))):
                raise PermissionError(f"{name}={value!r} is not allowed: it is not plain data")


def _is_plain(value: Any) -> bool:
    """Whether a value is of built-in types of data alone."""
    if type(value) in (list, tuple, set):
        return all(map(_is_plain, value))
    return all(map(_is_plain, (*value, *value.values()))) if type(value) is dict else type(value) in PLAIN


def allow_pandas() -> None:
    """Let code call the writers of the caller's frames (save = df.to_csv), with files that go below ok_dests.

    Frames that are sent into a cell need no permission: what pandas writes there goes where code may write."""
    import pandas
    for owner in (pandas.DataFrame, pandas.Series):
        allow({owner: [(name, WriterPolicy(kw)) for name, kw in WRITERS.items() if hasattr(owner, name)]})
