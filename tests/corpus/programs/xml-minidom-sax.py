# minidom and sax.
import io
import xml.sax
from xml.dom import minidom
from xml.sax.saxutils import escape, quoteattr
dom = minidom.parseString("<a x='1'><b>text</b><!-- c --></a>")
print(dom.documentElement.getAttribute("x"), dom.getElementsByTagName("b")[0].firstChild.data, dom.toxml())
element = dom.createElement("new")
dom.documentElement.appendChild(element)
print(dom.documentElement.toprettyxml(indent=" "))
class Handler(xml.sax.ContentHandler):
    def startElement(self, name, attrs):
        print("start", name, dict(attrs))
    def characters(self, content):
        print("text", content)
xml.sax.parse(io.StringIO("<r><i n='1'>x</i></r>"), Handler())
print(escape("<&>"), quoteattr('a"b'))
