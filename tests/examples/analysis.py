"""How fast is CO2 in the air rising, and how large is its season? `co2` is the data frame given with --input."""
import matplotlib.pyplot as plt
import pandas as pd
import statsmodels.api as sm
from statsmodels.tsa.seasonal import STL

weeks = co2.assign(date=pd.to_datetime(co2["date"].astype(str))).set_index("date")["co2"]
months = weeks.resample("MS").mean().interpolate()
parts = STL(months, period=12, robust=True).fit()

years = (months.index - months.index[0]).days / 365.25
line = sm.OLS(months.to_numpy(), sm.add_constant(years)).fit()
low, high = line.conf_int()[1]

decades = pd.DataFrame({
    "mean": months,
    "rise per year": parts.trend.diff().mul(12),
    "season": parts.seasonal,
}).groupby(months.index.year // 10 * 10).agg(
    {"mean": "mean", "rise per year": "mean", "season": lambda s: s.max() - s.min()})
decades.index = [f"{decade}s" for decade in decades.index]
print("CO2 at Mauna Loa, parts per million")
print(decades.round(2).to_string())

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 6), height_ratios=(3, 1), layout="constrained")
top.plot(months, color="0.7", label="monthly mean")
top.plot(parts.trend, color="tab:red", label="trend")
top.plot(months.index, line.fittedvalues, "k:", label=f"line: {line.params[1]:.2f} a year")
top.set(title="CO2 at Mauna Loa", ylabel="ppm")
top.legend()
season = parts.seasonal.groupby(parts.seasonal.index.month).mean()
bottom.bar(season.index, season, color="tab:green")
bottom.set(xlabel="month", ylabel="season, ppm", xticks=range(1, 13))

{
    "months": len(months),
    "ppm_per_year": round(float(line.params[1]), 3),
    "ppm_per_year_95": [round(float(low), 3), round(float(high), 3)],
    "season_ppm": round(float(season.max() - season.min()), 2),
    "last_ppm": round(float(months.iloc[-1]), 2),
}
