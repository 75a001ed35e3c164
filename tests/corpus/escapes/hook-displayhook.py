# sys.displayhook and sys.stdout are objects of the program's making.
# effect: run
import sys
class Writer:
    def write(self, text):
        sys.stdout = sys.__stdout__
        sys.modules["os"].system("cat @SECRET@")
        return len(text)
    def flush(self):
        pass
sys.stdout = Writer()
print("x")
