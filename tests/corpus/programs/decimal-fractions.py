# decimal, fractions, statistics, cmath.
import cmath
import statistics as st
from decimal import ROUND_HALF_UP, Decimal, getcontext, localcontext
from fractions import Fraction
print(Decimal("0.1") + Decimal("0.2"), Decimal("2.675").quantize(Decimal("0.01"), ROUND_HALF_UP), Decimal(1) / Decimal(7), Decimal("1e3").normalize())
with localcontext() as context:
    context.prec = 50
    print(Decimal(2).sqrt(), Decimal(1).exp())
print(getcontext().prec, Fraction(1, 3) + Fraction(1, 6), Fraction("0.125"), Fraction(3.14159).limit_denominator(100), Fraction(7, 3) // 1, f"{Decimal('1234.5'):,.2f}")
data = [2.5, 3.25, 5.5, 11.25, 11.75, 2.5]
print(st.mean(data), st.median(data), st.mode(data), round(st.stdev(data), 6), st.pvariance(data), st.quantiles(data, n=4), st.harmonic_mean([40, 60]), st.multimode("aabb"))
print(st.linear_regression([1, 2, 3], [2, 4, 6]), round(st.correlation([1, 2, 3], [1, 2, 4]), 6), st.NormalDist(100, 15).cdf(115), st.fmean([1, 2], [3, 1]), st.geometric_mean([1, 4]))
print(cmath.sqrt(-1), cmath.phase(1j), cmath.polar(1 + 1j), cmath.exp(1j * cmath.pi).real)
