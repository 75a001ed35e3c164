class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, force, dt):
        self.v += force * dt
        self.x += self.v * dt

    @property
    def energy(self):
        return 0.5 * self.v * self.v


def force(a, b):
    d = b.x - a.x
    return d / (abs(d) + 1.0) ** 2


def turn(bodies):
    for a in bodies:
        total = 0.0
        for b in bodies:
            if a is not b:
                total += force(a, b)
        a.step(total, 0.01)
    return sum(body.energy for body in bodies)


def work():
    bodies = [Body(float(n), 0.0) for n in range(12)]
    words, count = "one two three four five six".split(), {}
    for i in range(5000):
        turn(bodies)
        word = words[i % len(words)]
        count[word] = count.get(word, 0) + len(getattr(word, "upper")())
