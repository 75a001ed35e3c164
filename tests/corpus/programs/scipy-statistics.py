# scipy.stats: tests and distributions.
# tree: scientific
import numpy as np
from scipy import stats
rng = np.random.default_rng(0)
a, b = rng.normal(0, 1, 40), rng.normal(0.8, 1, 40)
t = stats.ttest_ind(a, b)
print(round(t.statistic, 6), round(t.pvalue, 8), np.round(stats.mannwhitneyu(a, b), 6), np.round(stats.shapiro(a), 6), np.round(stats.pearsonr(a, b), 6), np.round(stats.f_oneway(a, b), 6))
print(stats.norm.cdf(1.96).round(6), stats.norm.ppf(0.975).round(6), stats.binom.pmf(3, 10, 0.5).round(6), stats.t.interval(0.95, 10), stats.expon(scale=2).mean(), np.round(stats.norm.fit(a), 6))
chi2, p, dof, expected = stats.chi2_contingency([[10, 20], [30, 25]])
print(round(chi2, 6), round(p, 6), dof, expected.round(3), stats.zscore([1, 2, 3]).round(6), stats.describe(a).nobs, stats.linregress([1, 2, 3], [2, 4, 6.1]).slope.round(6), stats.rankdata([10, 20, 10]), stats.entropy([0.5, 0.5]).round(6), np.round(stats.kstest(a, "norm"), 6), stats.gaussian_kde(a)(0).round(6))
