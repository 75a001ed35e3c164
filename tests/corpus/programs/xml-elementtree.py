# xml.etree: parse, search, build, write.
import xml.etree.ElementTree as ET
root = ET.fromstring("<library><book id='1'><title>A</title><price>9.5</price></book><book id='2'><title>B</title></book></library>")
print(root.tag, [book.get("id") for book in root.iter("book")], root.find("book/title").text, root.findtext("book[2]/price", "none"), len(root.findall(".//title")))
new = ET.SubElement(root, "book", id="3")
ET.SubElement(new, "title").text = "C & D"
for price in root.iter("price"):
    price.text = str(float(price.text) * 2)
ET.indent(root)
print(ET.tostring(root, encoding="unicode"))
ET.ElementTree(root).write("library.xml", encoding="utf-8", xml_declaration=True)
print(ET.parse("library.xml").getroot()[2][0].text)
print([(event, element.tag) for event, element in ET.iterparse("library.xml", ["start"])][:3])
try:
    ET.fromstring("<a><b></a>")
except ET.ParseError as error:
    print(error)
