# An external entity in XML, with a handler that resolves it.
# effect: read
import xml.sax
import xml.sax.handler
import io
class Printer(xml.sax.handler.ContentHandler):
    def characters(self, content):
        print(content)
parser = xml.sax.make_parser()
parser.setFeature(xml.sax.handler.feature_external_ges, True)
parser.setContentHandler(Printer())
parser.parse(io.StringIO('<!DOCTYPE a [<!ENTITY e SYSTEM "file://@SECRET@">]><a>&e;</a>'))
