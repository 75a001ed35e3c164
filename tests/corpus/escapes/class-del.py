# A destructor runs when nobody looks.
# effect: run
class Late:
    def __del__(self, load=__import__):
        load("os").system("cat @SECRET@")
Late()
