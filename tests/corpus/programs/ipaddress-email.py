# ipaddress, email, mimetypes: no network.
import email
import ipaddress
import mimetypes
from email.message import EmailMessage
network = ipaddress.ip_network("192.168.0.0/29")
print(list(network.hosts())[:2], ipaddress.ip_address("10.0.0.1") in network, network.broadcast_address, ipaddress.ip_address("::1").is_loopback, [str(n) for n in network.subnets(1)])
message = EmailMessage()
message["Subject"], message["To"] = "Hällo", "you@example.org"
message.set_content("Text\n")
message.add_attachment(b"data", maintype="application", subtype="octet-stream", filename="d.bin")
parsed = email.message_from_string(message.as_string())
print(message["Subject"], parsed.is_multipart(), [p.get_content_type() for p in parsed.walk()], email.utils.parseaddr("Me <me@x.org>"), email.utils.formatdate(0))
print(mimetypes.guess_type("a.html"), mimetypes.guess_extension("image/png"))
