# Parsing a web server's log of its own making.
import re
from collections import Counter, defaultdict
from datetime import datetime
from urllib.parse import parse_qs, urlsplit
log = """10.0.0.1 - - [10/Oct/2024:13:55:36 +0000] "GET /a?id=1 HTTP/1.1" 200 2326
10.0.0.2 - - [10/Oct/2024:13:56:01 +0000] "POST /b HTTP/1.1" 500 12
10.0.0.1 - - [10/Oct/2024:14:02:10 +0000] "GET /a?id=2 HTTP/1.1" 404 0
broken line"""
pattern = re.compile(r'(?P<ip>\S+) \S+ \S+ \[(?P<when>[^]]+)\] "(?P<method>\S+) (?P<url>\S+) [^"]+" (?P<status>\d{3}) (?P<size>\d+)')
hits, hours, bad = Counter(), defaultdict(int), 0
for line in log.splitlines():
    if not (m := pattern.match(line)):
        bad += 1
        continue
    when = datetime.strptime(m["when"], "%d/%b/%Y:%H:%M:%S %z")
    hits[m["ip"], int(m["status"]) // 100] += 1
    hours[when.replace(minute=0, second=0).isoformat()] += int(m["size"])
    print(urlsplit(m["url"]).path, parse_qs(urlsplit(m["url"]).query))
print(hits.most_common(), dict(hours), bad)
