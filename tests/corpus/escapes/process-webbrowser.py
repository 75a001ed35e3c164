# webbrowser starts a browser of any name.
# effect: run
import webbrowser
webbrowser.GenericBrowser(["cat", "%s"]).open("@SECRET@")
