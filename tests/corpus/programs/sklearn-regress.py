# scikit-learn: regression, clustering, decomposition, selection.
# denials: audit subprocess.Popen; joblib asks lscpu for the number of cores, and then does without
# tree: scientific
import numpy as np
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_diabetes, make_blobs
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.metrics import mean_squared_error, r2_score, silhouette_score
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PolynomialFeatures
X, y = load_diabetes(return_X_y=True)
fit = LinearRegression().fit(X[:300], y[:300])
print(round(r2_score(y[300:], fit.predict(X[300:])), 6), round(mean_squared_error(y[300:], Ridge(0.1).fit(X[:300], y[:300]).predict(X[300:])), 3), (Lasso(0.5).fit(X, y).coef_ != 0).sum(), SelectKBest(f_regression, k=3).fit(X, y).get_support(True))
blobs, _ = make_blobs(60, centers=3, random_state=4)
labels = KMeans(3, n_init=5, random_state=0).fit_predict(blobs)
print(sorted(np.bincount(labels)), round(silhouette_score(blobs, labels), 4), len(set(DBSCAN(eps=2).fit_predict(blobs))), PCA(2).fit(X).explained_variance_ratio_.round(5))
print(MinMaxScaler().fit_transform([[1.0], [3], [5]]).ravel(), OneHotEncoder().fit_transform([["a"], ["b"], ["a"]]).toarray(), PolynomialFeatures(2).fit_transform([[2, 3]]), SimpleImputer().fit_transform([[1.0], [np.nan], [3.0]]).ravel())
