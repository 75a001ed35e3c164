# typing: generics, protocols, hints at run time.
from typing import Any, Callable, Generic, Literal, Optional, Protocol, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints, overload, runtime_checkable
T = TypeVar("T")
class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []
    def push(self, item: T) -> None:
        self.items.append(item)
    def pop(self) -> T:
        return self.items.pop()
@runtime_checkable
class Sized(Protocol):
    def size(self) -> int: ...
class Box:
    def size(self) -> int:
        return 1
class Movie(TypedDict, total=False):
    title: str
    year: int
def f(a: int, b: "Optional[str]" = None, *c: Union[int, str]) -> dict[str, list[int]]:
    return {}
stack = Stack[int]()
stack.push(5)
print(stack.pop(), isinstance(Box(), Sized), get_type_hints(f), get_origin(list[int]), get_args(dict[str, int]), Movie(title="x"), Literal["a", "b"])
print(int | None, Callable[[int], str], Stack.__parameters__, Optional[int] == Union[int, None], f.__annotations__["a"].__name__)
