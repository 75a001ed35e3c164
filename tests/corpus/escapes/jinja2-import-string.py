# jinja2 imports what a text names.
# effect: run
# tree: scientific
import jinja2.utils
print(jinja2.utils.import_string("subprocess.check_output")(["cat", "@SECRET@"]).decode())
