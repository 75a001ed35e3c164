# runpy gives the names of a module that it ran, socket among them.
# effect: connect
import runpy
runpy.run_module("http.client")["socket"].create_connection(("127.0.0.1", @PORT@))
