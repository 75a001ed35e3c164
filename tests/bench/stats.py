"""What is computed of values: medians, quartiles, ratios."""

import statistics


def quartiles(values):
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def summary(values):
    q1, median, q3 = quartiles(values)
    return {"n": len(values), "median": median, "q1": q1, "q3": q3, "min": min(values), "max": max(values)}


def ratio(values, base):
    """Of the medians; and quartiles of the rounds' ratios, of which each compares what ran side by side."""
    each = [value / other for value, other in zip(values, base) if other]
    _, middle, _ = quartiles(values)
    _, other, _ = quartiles(base)
    q1, _, q3 = quartiles(each) if each else (None, None, None)
    return {"ratio": middle / other if other else None, "ratio_q1": q1, "ratio_q3": q3}


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, len(values) * part // 100)]


def slowest(found):
    """In milliseconds, for a sentence: what medians do not tell."""
    told = [f"{name} {percentile(values, 95) * 1000:.2f} and {percentile(values, 99) * 1000:.2f}" for name, values in found.items()]
    return f"Milliseconds at percentiles 95 and 99: {'; '.join(told)}."
