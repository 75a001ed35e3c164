# dateutil and pytz.
# tree: scientific
from datetime import datetime
import pytz
from dateutil import parser, rrule, tz
from dateutil.relativedelta import relativedelta
print(parser.parse("3rd of May 2024 10:30 PM"), parser.isoparse("2024-05-06T07:08:09Z"), datetime(2024, 1, 31) + relativedelta(months=1), relativedelta(datetime(2024, 5, 1), datetime(2020, 2, 29)))
print(list(rrule.rrule(rrule.WEEKLY, count=3, dtstart=datetime(2024, 1, 1))), pytz.timezone("Europe/Paris").localize(datetime(2024, 7, 1)), datetime(2024, 1, 1, tzinfo=tz.gettz("America/New_York")).utcoffset(), pytz.utc, len(pytz.all_timezones) > 400)
