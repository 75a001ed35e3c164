# typing.get_type_hints evaluates annotations that are text.
# effect: run
import typing
class Record:
    field: "__import__('os').system('cat @SECRET@')"
try:
    typing.get_type_hints(Record)
except TypeError:
    pass
