# calendar.
import calendar
print(calendar.month(2024, 2))
print(calendar.monthrange(2023, 2), calendar.isleap(2000), calendar.leapdays(2000, 2025), calendar.day_name[0], calendar.month_abbr[12])
print(calendar.Calendar(6).monthdayscalendar(2024, 9)[0], calendar.timegm((1970, 1, 2, 0, 0, 0)))
print(calendar.TextCalendar(0).formatyear(2024, m=4)[:60])
