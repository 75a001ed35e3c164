# An entity of a document names a file, which libxml2 reads.
# effect: read
# tree: scientific-more
from lxml import etree
parser = etree.XMLParser(resolve_entities=True)
print(etree.tostring(etree.fromstring("<!DOCTYPE r [<!ENTITY e SYSTEM 'file://@SECRET@'>]><r>&e;</r>", parser)))
