# random with a seed.
import random
random.seed(42)
print(random.random(), random.randint(1, 100), random.choice("abc"), random.sample(range(10), 3), random.uniform(1, 2))
deck = list(range(8))
random.shuffle(deck)
print(deck, random.choices("ab", weights=[1, 9], k=5), round(random.gauss(0, 1), 6), random.getrandbits(16), round(random.betavariate(2, 3), 6))
own = random.Random("text seed")
state = own.getstate()
first = own.random()
own.setstate(state)
print(own.random() == first, own.randbytes(4), random.Random(1).triangular(0, 10, 5), 0 <= random.SystemRandom().random() < 1)
