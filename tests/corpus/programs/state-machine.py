# A parser and evaluator for arithmetic; a state machine; an LRU cache.
import re
from collections import OrderedDict
def tokens(text):
    for number, sign in re.findall(r"\s*(?:(\d+\.?\d*)|(.))", text):
        yield float(number) if number else sign
class Parser:
    def __init__(self, text):
        self.items = [*tokens(text), None]
    def take(self):
        return self.items.pop(0)
    def expression(self):
        value = self.term()
        while self.items[0] in ("+", "-"):
            value = value + self.term() if self.take() == "+" else value - self.term()
        return value
    def term(self):
        value = self.factor()
        while self.items[0] in ("*", "/"):
            value = value * self.factor() if self.take() == "*" else value / self.factor()
        return value
    def factor(self):
        token = self.take()
        if token == "(":
            value = self.expression()
            self.take()
            return value
        return -self.factor() if token == "-" else token
print([Parser(text).expression() for text in ("1 + 2 * 3", "(1 + 2) * 3", "-4 / (2 - 4)")])
class Cache(OrderedDict):
    def __init__(self, size):
        super().__init__()
        self.size = size
    def __getitem__(self, key):
        self.move_to_end(key)
        return super().__getitem__(key)
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if len(self) > self.size:
            del self[next(iter(self))]
cache = Cache(2)
cache["a"], cache["b"] = 1, 2
cache["a"]
cache["c"] = 3
print(list(cache))
