# libxml2 fetches a document by HTTP itself.
# effect: connect
# tree: scientific-more
import os
import threading
from lxml import etree


def fetch():
    try:
        etree.parse("http://127.0.0.1:@PORT@/x.xml", etree.XMLParser(no_network=False))
    except OSError as error:
        print(error, flush=True)


thread = threading.Thread(target=fetch, daemon=True)
thread.start()
thread.join(3)
os._exit(0)
