# datetime: parsing, formatting, differences.
from datetime import date, datetime, time, timedelta, timezone
start = datetime(2024, 2, 28, 23, 30)
print(start + timedelta(hours=1), start.strftime("%A %d %B %Y, %H:%M"), start.isoformat(), start.weekday(), start.isocalendar())
print(datetime.strptime("05/03/2024 14:07", "%d/%m/%Y %H:%M"), datetime.fromisoformat("2024-05-06T07:08:09+02:00"), date.fromordinal(738000))
gap = datetime(2024, 12, 25) - datetime(2024, 1, 1)
print(gap.days, gap.total_seconds(), gap / timedelta(days=7), timedelta(days=1.5), -timedelta(minutes=5), divmod(gap, timedelta(weeks=1)))
print(datetime(2024, 1, 1, tzinfo=timezone.utc).astimezone(timezone(timedelta(hours=5, minutes=30))), datetime.fromtimestamp(0, timezone.utc))
print(date(2024, 2, 29).replace(year=2028), time(12, 30).replace(hour=1), datetime.combine(date(2024, 1, 1), time(6)), date.max, sorted([date(2024, 2, 1), date(2023, 1, 1)]))
days = [date(2024, 1, 1) + timedelta(days=n) for n in range(10)]
print([d.day for d in days if d.weekday() < 5], f"{start:%Y/%m/%d}")
