# scipy: sparse matrices and clustering of words.
# tree: scientific
import numpy as np
from scipy.cluster.vq import kmeans2, whiten
from scipy.sparse import coo_matrix, diags, lil_matrix
from scipy.spatial.distance import cdist, cosine
words = ["cat", "cart", "dog", "dig"]
letters = sorted(set("".join(words)))
vectors = np.array([[w.count(c) for c in letters] for w in words], dtype=float)
print(cdist(vectors, vectors, "cityblock"), round(cosine(vectors[0], vectors[1]), 6))
m = coo_matrix(([1, 2, 3], ([0, 1, 1], [1, 0, 2])))
l = lil_matrix((2, 2))
l[0, 1] = 5
print(m.tocsr()[1].toarray(), l.toarray(), diags([1, 2]).toarray(), whiten(vectors + 1).shape, len(set(kmeans2(vectors, vectors[[0, 2]], minit="matrix")[1])))
