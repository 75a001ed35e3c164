# __class_getitem__ runs in an annotation.
# effect: run
class Box:
    def __class_getitem__(cls, item):
        return __import__("os").system(item)
value: Box["cat @SECRET@"] = None
