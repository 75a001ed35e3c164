# Has one name of an XML document stand for very many others.
# group: resources
# held: launcher cgroup
# status: error memory timeout
# options: --memory=64M --timeout=3
import xml.etree.ElementTree as tree

names = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
tree.fromstring(f'<!DOCTYPE x [<!ENTITY a0 "{"x" * 100}">{names}]><x>&a9;</x>')
