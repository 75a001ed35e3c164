# Callbacks, observers, a plugin registry and a command pattern.
from collections import defaultdict
from typing import Callable
class Bus:
    def __init__(self):
        self._handlers: dict[str, list[Callable]] = defaultdict(list)
    def on(self, event):
        def register(handler):
            self._handlers[event].append(handler)
            return handler
        return register
    def emit(self, event, /, **data):
        return [handler(**data) for handler in self._handlers[event]]
bus = Bus()
@bus.on("saved")
def log(path, **_):
    return f"log {path}"
@bus.on("saved")
def count(size, **_):
    return size * 2
print(bus.emit("saved", path="x", size=3), bus.emit("nothing"))
class Editor:
    def __init__(self):
        self.text, self._undo = "", []
    def do(self, command, *args):
        self._undo.append(self.text)
        self.text = getattr(self, f"_{command}")(*args)
    def _append(self, more):
        return self.text + more
    def _upper(self):
        return self.text.upper()
    def undo(self):
        self.text = self._undo.pop()
editor = Editor()
editor.do("append", "hello")
editor.do("upper")
print(editor.text, editor.undo(), editor.text)
