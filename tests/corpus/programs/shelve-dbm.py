# shelve and dbm with one's own data.
import dbm.dumb
import shelve
with shelve.open("shelf") as shelf:
    shelf["a"] = {"list": [1, 2]}
    shelf["b"] = "text"
with shelve.open("shelf", writeback=True) as shelf:
    shelf["a"]["list"].append(3)
    print(sorted(shelf), shelf["a"])
with dbm.dumb.open("numbers", "c") as store:
    store["x"] = "1"
    print(store["x"], list(store.keys()))
