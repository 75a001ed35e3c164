# pandas: dates, resampling, rolling windows, time zones.
# tree: scientific
import pandas as pd
index = pd.date_range("2024-01-01", periods=10, freq="D")
series = pd.Series(range(10), index=index)
print(series.resample("3D").sum(), series.rolling(3).mean().tail(2), series.shift(1).head(2), series["2024-01-03":"2024-01-05"], series.pct_change().iloc[2], series.ewm(span=3).mean().round(4).tail(1), series.expanding().max().iloc[-1])
df = pd.DataFrame({"when": pd.to_datetime(["2024-01-15 10:00", "2024-02-20 22:30"])})
print(df.when.dt.month_name(), df.when.dt.dayofweek, df.when.dt.strftime("%d/%m"), df.when.diff(), df.when.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"), df.when.dt.to_period("M"))
print(pd.Timestamp("2024-02-29") + pd.DateOffset(years=1), pd.Timedelta("1 days 2 hours").total_seconds(), pd.bdate_range("2024-01-05", periods=3), pd.period_range("2024Q1", periods=2, freq="Q"), pd.to_datetime("31.12.2023", dayfirst=True), pd.Timestamp(0), series.asfreq("12H").isna().sum())
