# configparser.
import configparser
config = configparser.ConfigParser()
config.read_string("[DEFAULT]\nbase = /srv\n[site]\npath = %(base)s/www\nport = 8080\ndebug = yes\nlist =\n  a\n  b\n")
print(config["site"]["path"], config.getint("site", "port"), config.getboolean("site", "debug"), config["site"]["list"].split(), config.sections())
config["new"] = {"k": "v"}
with open("site.ini", "w") as file:
    config.write(file)
again = configparser.ConfigParser()
print(again.read("site.ini"), again["new"]["k"], again.get("site", "none", fallback="-"))
try:
    config.get("site", "gone")
except configparser.NoOptionError as error:
    print(error)
