# inspect: signatures, sources, members.
import inspect
def area(width: float, height: float = 2.0, *, unit="m") -> float:
    """Area of a rectangle."""
    return width * height
class Base:
    def method(self): ...
    @staticmethod
    def static(): ...
signature = inspect.signature(area)
print(signature, list(signature.parameters), signature.parameters["height"].default, signature.return_annotation, signature.bind(1, unit="cm").arguments)
print(inspect.getdoc(area), inspect.isfunction(area), inspect.isclass(Base), [name for name, _ in inspect.getmembers(Base, inspect.isfunction)])
print(inspect.getsource(area))
print(inspect.getfullargspec(area).kwonlyargs, inspect.isgeneratorfunction(area), inspect.iscoroutinefunction(area), inspect.getmro(Base)[1].__name__, inspect.cleandoc("  a\n    b"))
print(inspect.getsourcelines(Base)[0][0], inspect.ismodule(inspect), inspect.isbuiltin(len))
