# Leaves an object that comes back when it goes.
# group: ending
# held: launcher
# status: ok error
kept = []


class Back:
    def __del__(self):
        kept.append(self)
        print("back", flush=True)
        raise SystemExit(0)


for _ in range(10):
    kept.append(Back())
