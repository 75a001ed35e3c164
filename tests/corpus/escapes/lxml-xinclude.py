# A document includes a file.
# effect: read
# tree: scientific-more
from lxml import etree
document = etree.fromstring('<r xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="file://@SECRET@" parse="text"/></r>').getroottree()
document.xinclude()
print(etree.tostring(document))
