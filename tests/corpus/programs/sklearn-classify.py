# scikit-learn: classification with a pipeline.
# tree: scientific
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, export_text
X, y = load_iris(return_X_y=True)
a, b, ya, yb = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(a, ya)
print(accuracy_score(yb, model.predict(b)), confusion_matrix(yb, model.predict(b)), classification_report(yb, model.predict(b)))
print(cross_val_score(model, X, y, cv=3).round(4), model.predict_proba(b[:1]).round(3), model.named_steps["logisticregression"].coef_.shape)
tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(a, ya)
print(export_text(tree), tree.feature_importances_.round(3), RandomForestClassifier(20, random_state=1).fit(a, ya).score(b, yb))
search = GridSearchCV(Pipeline([("m", DecisionTreeClassifier(random_state=0))]), {"m__max_depth": [1, 3]}, cv=3).fit(X, y)
print(search.best_params_, round(search.best_score_, 4), model)
