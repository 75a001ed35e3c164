# tomllib.
import tomllib
document = tomllib.loads("""
title = "T"
when = 2024-05-27T07:32:00Z
[owner]
name = "x"
ports = [8000, 8001]
[[item]]
a = 1
[[item]]
a = 2.5
""")
print(document)
try:
    tomllib.loads("a = ")
except tomllib.TOMLDecodeError as error:
    print(error)
