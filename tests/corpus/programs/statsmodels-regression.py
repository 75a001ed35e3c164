# statsmodels: OLS by formula and arrays, logit, tests.
# tree: scientific
import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
rng = np.random.default_rng(1)
df = pd.DataFrame({"x": rng.normal(size=80), "g": rng.choice(["a", "b"], 80)})
df["y"] = 2 + 3 * df.x + (df.g == "b") * 1.5 + rng.normal(scale=0.5, size=80)
fit = smf.ols("y ~ x + C(g)", data=df).fit()
print(fit.params.round(4), fit.rsquared.round(6), fit.pvalues.round(6), fit.conf_int().round(4))
print("\n".join(line for line in fit.summary().as_text().splitlines() if "Date:" not in line and "Time:" not in line))
print(sm.stats.anova_lm(fit, typ=2).round(4), fit.predict(pd.DataFrame({"x": [0.0], "g": ["a"]})).round(4))
z = (df.y > df.y.median()).astype(int)
print(sm.Logit(z, sm.add_constant(df.x)).fit(disp=0).params.round(3), sm.GLM(z, sm.add_constant(df.x), family=sm.families.Binomial()).fit().deviance.round(3))
print(np.round(sm.stats.durbin_watson(fit.resid), 4), smf.ols("np.log(y + 20) ~ I(x ** 2)", df).fit().params.round(4), np.round(sm.stats.het_breuschpagan(fit.resid, fit.model.exog), 4))
