import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
COUNT = 200_000
frame = pd.DataFrame({"place": rng.integers(0, 500, COUNT), "kind": rng.choice(["a", "b", "c", "d"], COUNT), "value": rng.random(COUNT)})


def work():
    for _ in range(3):
        frame.groupby("place")["value"].agg(["mean", "std", "count"])
        frame.groupby(["kind", "place"])["value"].sum().unstack()
        frame.groupby("kind")["value"].apply(lambda part: part.nlargest(3).sum())
