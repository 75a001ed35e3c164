# scikit-learn: text, neighbours, SVM, boosting, neural net, own estimator, saving with joblib.
# tree: scientific
import warnings
import joblib
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
warnings.simplefilter("ignore")
texts, labels = ["good great fun", "bad awful", "great film", "awful boring bad"], [1, 0, 1, 0]
model = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(texts, labels)
print(model.predict(["great fun", "bad film boring"]), CountVectorizer().fit(texts).get_feature_names_out(), TfidfVectorizer().fit_transform(texts).shape)
X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 5, dtype=float) + np.arange(20)[:, None] / 1000
y = (X[:, 0] > 0.5).astype(int)
print(KNeighborsClassifier(3).fit(X, y).score(X, y), SVC().fit(X, y).predict(X[:4]), GradientBoostingRegressor(random_state=0, n_estimators=10).fit(X, y).predict(X[:2]).round(4), MLPClassifier((4,), random_state=1, max_iter=300).fit(X, y).score(X, y) > 0.5)
class Double(BaseEstimator, TransformerMixin):
    def __init__(self, factor=2):
        self.factor = factor
    def fit(self, X, y=None):
        return self
    def transform(self, X):
        return X * self.factor
print(Double().set_params(factor=3).fit_transform(X[:1]), Double())
joblib.dump(model, "model.joblib")
print(joblib.load("model.joblib").predict(["fun"]), joblib.Parallel(n_jobs=1)(joblib.delayed(abs)(-n) for n in range(3)))
