# statsmodels: time series.
# tree: scientific
import warnings
import numpy as np
import pandas as pd
from statsmodels.tsa.api import ARIMA, ExponentialSmoothing, acf, adfuller
from statsmodels.tsa.seasonal import seasonal_decompose
warnings.simplefilter("ignore")
rng = np.random.default_rng(2)
index = pd.date_range("2020-01-01", periods=48, freq="MS")
series = pd.Series(10 + np.arange(48) * 0.5 + 3 * np.sin(np.arange(48) * np.pi / 6) + rng.normal(scale=0.2, size=48), index)
parts = seasonal_decompose(series, model="additive")
print(parts.seasonal[:3].round(3), parts.trend.dropna()[:2].round(3), acf(series, nlags=2).round(4), np.round(adfuller(series)[1], 3))
print(ExponentialSmoothing(series, trend="add", seasonal="add", seasonal_periods=12).fit().forecast(2).round(0), ARIMA(series, order=(1, 1, 0)).fit().params.round(1))
