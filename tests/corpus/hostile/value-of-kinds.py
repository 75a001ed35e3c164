# Has a value with a thousand kinds, some of which are no names of kinds.
# group: stdout
# held: launcher
# status: ok error
# manifest: small


class Many:
    def _repr_mimebundle_(self, *_, **__):
        return {f"text/{'x' * number}\n\x1b": "x" * 10000 for number in range(1000)}


Many()
