"""Dates, times and time zones as JSON with tags, and back; see values."""

from __future__ import annotations

from .value_tags import NotCarried, expect, loaded_class, parts_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional


def put_time(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of a time of day, with its zone."""
    return to.tag("time", [value.replace(tzinfo=None, fold=0).isoformat(), value.fold, zone_content(value.tzinfo)])


def put_datetime(to: Any, value: Any, depth: int) -> Any:
    """The tagged form of a date with a time, with its zone."""
    zone, offset = zone_content(value.tzinfo), None
    if zone is not None and zone[0] == "pytz":
        offset = seconds_of(value.utcoffset())
        if value.tzinfo.normalize(value).replace(tzinfo=None) != value.replace(tzinfo=None):
            raise NotCarried(f"{value!r} has a time zone of pytz that was not set with its localize(): use that, or zoneinfo")
    return to.tag("datetime", [value.replace(tzinfo=None, fold=0).isoformat(), value.fold, zone, offset])


def seconds_of(delta: Any) -> List[int]:
    """The days, seconds and microseconds of a length of time."""
    return [delta.days, delta.seconds, delta.microseconds]


def zone_content(zone: Any) -> Optional[List[Any]]:
    """A time zone: its kind, and its name or its distance from UTC."""
    import datetime
    if zone is None:
        return None
    kind = type(zone)
    if kind is datetime.timezone:
        plain = datetime.timezone(zone.utcoffset(None))
        name = zone.tzname(None)
        if zone is datetime.timezone.utc:
            return ["utc"]
        return ["offset", *seconds_of(zone.utcoffset(None)), None if name == plain.tzname(None) else name]
    if kind is loaded_class("zoneinfo", "ZoneInfo") and zone.key:
        return ["zoneinfo", zone.key]
    base = loaded_class("pytz.tzinfo", "BaseTzInfo")
    if base is not None and isinstance(zone, base) and kind.__module__.split(".")[0] == "pytz" and zone.zone:
        return ["pytz", zone.zone]
    if kind is loaded_class("pytz", "_FixedOffset"):
        return ["pytz_offset", *seconds_of(zone.utcoffset(None))]
    if kind is loaded_class("dateutil.tz", "tzutc") or kind.__module__ == "dateutil.tz.tz" and kind.__name__ == "tzutc":
        return ["dateutil_utc"]
    raise NotCarried(f"a time zone of type {type_name(kind)} is not carried: use zoneinfo.ZoneInfo or datetime.timezone")


def get_date(of: Any, content: Any, depth: int) -> Any:
    """The date of its text."""
    import datetime
    return datetime.date.fromisoformat(content)


def get_time(of: Any, content: Any, depth: int) -> Any:
    """The time of day of such a form."""
    import datetime
    text, fold, zone = parts_of(content, str, int, object)
    return datetime.time.fromisoformat(text).replace(fold=fold, tzinfo=zone_of(zone))


def get_datetime(of: Any, content: Any, depth: int) -> Any:
    """The date with a time of such a form."""
    import datetime
    text, fold, zone, offset = parts_of(content, str, int, object, object)
    moment, tz = datetime.datetime.fromisoformat(text), zone_of(zone)
    if offset is not None:
        return tz.fromutc(moment - delta_of(offset)).replace(fold=fold)
    return moment.replace(fold=fold, tzinfo=tz)


def delta_of(content: Any) -> Any:
    """The length of time of its days, seconds and microseconds."""
    import datetime
    return datetime.timedelta(*parts_of(content, int, int, int))


def zone_of(zone: Any) -> Any:
    """A time zone. Names are those of the time zone database: other names could make a library open any file."""
    import datetime
    import re
    if zone is None:
        return None
    kind, rest = expect(zone, list)[0], zone[1:]
    if kind == "utc":
        return datetime.timezone.utc
    if kind == "offset":
        name = rest.pop()
        return datetime.timezone(delta_of(rest), *([] if name is None else [expect(name, str)]))
    if kind == "pytz_offset":
        import pytz
        return pytz.FixedOffset(delta_of(rest).total_seconds() // 60)
    if kind == "dateutil_utc":
        import dateutil.tz
        return dateutil.tz.tzutc()
    name, = parts_of(rest, str)
    if len(name) > 64 or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", name):
        raise ValueError("no name of a time zone")
    if kind == "zoneinfo":
        import zoneinfo
        return zoneinfo.ZoneInfo(name)
    if kind == "pytz":
        import pytz
        return pytz.timezone(name)
    raise ValueError("no kind of a time zone")
