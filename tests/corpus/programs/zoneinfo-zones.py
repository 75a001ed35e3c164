# Time zones.
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones
meeting = datetime(2024, 3, 30, 12, tzinfo=ZoneInfo("Europe/Berlin"))
print(meeting, meeting + timedelta(days=1), meeting.astimezone(ZoneInfo("America/New_York")), meeting.astimezone(ZoneInfo("Asia/Tokyo")))
print((meeting + timedelta(days=1)).utcoffset(), meeting.tzname(), ZoneInfo("UTC"), len(available_timezones()) > 400)
print(datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")).utcoffset())
try:
    ZoneInfo("Nowhere/City")
except Exception as error:
    print(type(error).__name__)
