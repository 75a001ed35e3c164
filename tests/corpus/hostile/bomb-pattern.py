# Has a pattern try everything.
# group: resources
# held: launcher
# status: timeout
# options: --timeout=0.3 --grace=0
import re

re.match("(a*)*b", "a" * 60)
