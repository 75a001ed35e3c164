# A style sheet writes a file by an extension of libxslt.
# effect: write
# tree: scientific-more
from lxml import etree
etree.XSLT(etree.XML("""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:exsl="http://exslt.org/common"
    extension-element-prefixes="exsl"><xsl:template match="/"><exsl:document href="file://@WRITE@"><x/></exsl:document></xsl:template></xsl:stylesheet>"""))(
        etree.XML("<r/>"))
