"""Permissions for pandas' writers of the caller's own frames, as allow_matplotlib gives them for figures."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Sequence

from .allow import AllowPolicy, Dests, allow, chk_dest

# Writers of DataFrame and Series, with the keyword of the argument that says where to; it can be the first one, too. Those that
# write elsewhere than to a file (to_sql, to_gbq, to_clipboard) are not here.
WRITERS: Dict[str, str] = {
    "to_csv": "path_or_buf", "to_excel": "excel_writer", "to_feather": "path", "to_hdf": "path_or_buf", "to_html": "buf",
    "to_json": "path_or_buf", "to_latex": "buf", "to_markdown": "buf", "to_orc": "path", "to_parquet": "path",
    "to_pickle": "path", "to_stata": "path", "to_string": "buf", "to_xml": "path_or_buffer",
}


class WriterPolicy(AllowPolicy):
    """The first argument, or the keyword `kw`, is a path below ok_dests; without one the writer returns a text. URLs, which
    pandas writes to as well, are denied."""

    def __init__(self, kw: str) -> None:
        self.kw = kw

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        dest = args[0] if args else kwargs.get(self.kw)
        if dest is None:
            return
        if not isinstance(dest, (str, os.PathLike)) or "://" in os.fspath(dest):
            raise PermissionError(f"Dest {dest!r} not allowed: only a path is")
        chk_dest(dest, ok_dests)


def allow_pandas() -> None:
    """Let code call the writers of the caller's frames (save = df.to_csv), with files that go below ok_dests.

    Frames that are sent into a cell need no permission: what pandas writes there goes where code may write."""
    import pandas
    for owner in (pandas.DataFrame, pandas.Series):
        allow({owner: [(name, WriterPolicy(kw)) for name, kw in WRITERS.items() if hasattr(owner, name)]})
