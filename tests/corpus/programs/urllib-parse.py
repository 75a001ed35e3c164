# urllib.parse: no network.
from urllib.parse import parse_qs, parse_qsl, quote, quote_plus, unquote, urlencode, urljoin, urlparse, urlsplit, urlunsplit
url = urlparse("https://user@example.org:8080/path/page.html?q=a+b&q=c#top")
print(url.scheme, url.hostname, url.port, url.path, parse_qs(url.query), url.fragment, url.geturl())
print(urljoin("https://example.org/a/b", "../c"), quote("a b/ü"), quote_plus("a b&c"), unquote("%C3%BC"), urlencode({"a": 1, "b": "x y"}))
print(urlunsplit(urlsplit("http://h/p?x=1")), parse_qsl("a=1&b=&c=2", keep_blank_values=True))
