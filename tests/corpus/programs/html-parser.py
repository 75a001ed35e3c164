# html and html.parser.
import html
from html.parser import HTMLParser
class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.text = [], []
    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.links.append(dict(attrs).get("href"))
    def handle_data(self, data):
        self.text.append(data.strip())
parser = Links()
parser.feed("<p>See <a href='/x?a=1&amp;b=2'>this</a> &amp; <A HREF=y>that</a><br/></p>")
print(parser.links, [t for t in parser.text if t], html.escape("<a href='x'>"), html.unescape("&eacute;&#8364;&lt;"))
