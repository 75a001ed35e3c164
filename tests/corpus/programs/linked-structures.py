# Linked list, binary tree, trie, union-find, iterators.
class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right
class Tree:
    def __init__(self):
        self.root = None
    def insert(self, value):
        def put(node):
            if node is None:
                return Node(value)
            if value < node.value:
                node.left = put(node.left)
            else:
                node.right = put(node.right)
            return node
        self.root = put(self.root)
    def __iter__(self):
        def walk(node):
            if node:
                yield from walk(node.left)
                yield node.value
                yield from walk(node.right)
        return walk(self.root)
    def depth(self, node="root"):
        node = self.root if node == "root" else node
        return 0 if node is None else 1 + max(self.depth(node.left), self.depth(node.right))
tree = Tree()
for n in (5, 2, 8, 1, 9, 3):
    tree.insert(n)
print(list(tree), tree.depth(), sum(tree), 8 in tree)
trie = {}
for word in ("tea", "ten", "to"):
    level = trie
    for letter in word:
        level = level.setdefault(letter, {})
    level["$"] = True
print(trie)
parent = list(range(6))
def find(x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x
for a, b in ((0, 1), (2, 3), (1, 3)):
    parent[find(a)] = find(b)
print(len({find(x) for x in range(6)}))
