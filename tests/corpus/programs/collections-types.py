# Counter, defaultdict, deque, OrderedDict, ChainMap.
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
words = "the cat the dog the end a cat".split()
count = Counter(words)
print(count.most_common(2), count["none"], count + Counter(a=5), sorted((count - Counter(the=2)).items()), sum(count.values()))
groups = defaultdict(list)
for word in words:
    groups[word[0]].append(word)
print(dict(groups), defaultdict(int, x=1)["y"])
ring = deque(range(5), maxlen=5)
ring.append(5)
ring.rotate(2)
ring.appendleft(99)
print(ring, ring.popleft(), list(ring)[::2])
ordered = OrderedDict.fromkeys("abc")
ordered.move_to_end("a")
print(list(ordered), ChainMap({"a": 1}, {"a": 2, "b": 3})["b"])
class Upper(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.upper(), value)
print(Upper(a=1, b=2))
