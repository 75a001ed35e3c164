# try, else, finally, chaining, custom exceptions, groups.
class AppError(Exception):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code
def risky(value):
    try:
        result = 10 / int(value)
    except ZeroDivisionError as error:
        raise AppError("division", 7) from error
    except (ValueError, TypeError) as error:
        return f"bad value: {error}"
    else:
        return result
    finally:
        print("tried", value)
print(risky("5"), risky("x"))
try:
    risky("0")
except AppError as error:
    print(error, error.code, repr(error.__cause__), error.args)
try:
    raise ExceptionGroup("several", [ValueError("a"), KeyError("b")])
except* ValueError as group:
    print("values", group.exceptions)
except* KeyError as group:
    print("keys", group.exceptions)
try:
    try:
        {}["x"]
    except KeyError:
        [][1]
except IndexError as error:
    print(type(error.__context__).__name__)
for bad in (lambda: 1 + "a", lambda: [].foo, lambda: undefined, lambda: next(iter([]))):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, error)
try:
    assert 1 == 2, "not equal"
except AssertionError as error:
    error.add_note("noted")
    print(error, error.__notes__)
