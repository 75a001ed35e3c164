# json: round trips, own types, errors.
import datetime
import decimal
import json
document = {"name": "Zoë", "list": [1, 2.5, None, True], "nested": {"a": {"b": "c"}}, "unicode": "\u20ac"}
text = json.dumps(document, indent=2, sort_keys=True)
print(text, json.loads(text) == document, json.dumps(document, ensure_ascii=False, separators=(",", ":")))
class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, (datetime.date, datetime.datetime)):
            return value.isoformat()
        if isinstance(value, set):
            return sorted(value)
        return super().default(value)
print(json.dumps({"d": datetime.date(2024, 1, 2), "s": {3, 1}}, cls=Encoder), json.loads("[1.10]", parse_float=decimal.Decimal))
print(json.loads('{"a": 1, "a": 2}', object_pairs_hook=lambda pairs: pairs), json.loads('{"x": {"y": 1}}', object_hook=lambda d: sorted(d)))
for bad in ('{"a": 1,}', "[1, 2", "nul"):
    try:
        json.loads(bad)
    except json.JSONDecodeError as error:
        print(error)
with open("data.json", "w") as file:
    json.dump(document, file)
with open("data.json") as file:
    print(json.load(file)["list"])
try:
    json.dumps({1, 2})
except TypeError as error:
    print(error)
