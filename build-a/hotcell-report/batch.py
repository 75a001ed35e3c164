"""The page of a batch: how all of its jobs ended, and which of them to look at. For each job only its row of the table is in memory, so
that a batch may be of any length."""

import array
import math
import re
from types import SimpleNamespace

import charts
import facts
import job
import pages
from strict import Document, Number
from words import count, encode, entries, get, number, size, text, time

MAX_ROWS, MAX_LINE, MAX_REASON, MAX_NOTES = 10000, 1 << 27, 300, 20  # most rows for jobs that ended well, and as many for other jobs
DETAILS = {True: 50, False: 200}  # rows with details, for jobs that ended well, and for others
NO_RESULT = "no result"  # the status of a line that was begun and has no result
STATUSES = (*facts.STATUSES, "invalid", "outcome_unknown")


def notes_of(manifest):
    """The refusals of a job, at most MAX_NOTES, and the number of those left out."""
    findings, denials = get(get(manifest, "rejection"), "findings"), entries(manifest, "denials")
    rejected = isinstance(findings, list)
    nodes = findings if rejected else denials
    return [job.mark(node, "refused", "message" if rejected else "what", not rejected and get(node, "attested") is not True,
                     what=(f"Line {count(node, 'line')}, " if count(node, "line") else "") + text(node, "rule")[:80], count=count(node, "count"))
            for node in nodes[:MAX_NOTES]], max(len(nodes) - MAX_NOTES, 0)


def is_line(node):
    return isinstance(node, Number) and 1 <= node <= MAX_LINE


class Batch:
    """Lines of results.jsonl or of journal.jsonl are added; results come first. A line that has a result already keeps it."""

    def __init__(self):
        self.rows, self.more, self.counts = [], 0, dict.fromkeys((*STATUSES, NO_RESULT), 0)
        self.kept, self.detailed = {True: 0, False: 0}, {True: 0, False: 0}
        self.begun, self.resulted = set(), set()
        self.walls, self.memories = array.array("d"), array.array("d")
        self.cpu, self.denials, self.started, self.shard, self.shards, self.torn = 0.0, 0, "", 0, 0, False

    def add(self, name, line, data):
        document = Document(name, data, line)
        node = document.value
        if not isinstance(node, dict):
            document.ask(what=f"expected an object, got {document.kind()}")
        kinds = [kind for kind in ("begin", "start", "back", "end", "blank") if kind in node]
        if "line" in node:
            self.result(document, node)
        elif "batch" in node:
            self.started = self.started or text(node["batch"], "started")[:39]
            self.shard, self.shards = count(node["batch"], "shard"), count(node["batch"], "shards")
        elif not kinds:
            document.ask(what="expected a line of a batch's results or of its journal")
        elif not is_line(node[kinds[0]]):
            document.ask(kinds[0], f"{kinds[0]}: expected the number of a line")
        else:
            if kinds[0] == "end" and "result" in node:
                self.result(document, node["result"], "result.")
            if kinds[0] in ("begin", "start"):
                self.begun.add(int(node[kinds[0]]))
            elif kinds[0] != "blank":  # the job has ended; its result may still wait for those of earlier lines
                self.begun.discard(int(node[kinds[0]]))

    def result(self, document, node, path=""):
        line, status, manifest = get(node, "line"), get(node, "status"), get(node, "manifest")
        if not is_line(line):
            document.ask(path + "line", f"line: expected a whole number from 1 to {MAX_LINE} on")
        if status not in STATUSES:
            document.ask(path + "status", "status: expected one of a batch's results")
        if int(line) in self.resulted:
            return
        self.resulted.add(int(line))
        self.counts[status] += 1
        self.denials += len(entries(manifest, "denials"))
        usage = get(manifest, "usage")
        wall, memory, cpu = number(usage, "wall"), number(usage, "memory_peak"), number(usage, "cpu_user") + number(usage, "cpu_system")
        self.walls.extend([wall] if wall >= 0 else [])
        self.memories.extend([memory] if memory >= 0 else [])
        self.cpu += cpu if cpu >= 0 else 0
        self.keep(int(line), status, node, wall=wall, cpu=cpu, memory=memory)

    def keep(self, line, status, node, **measures):
        manifest, well = get(node, "manifest"), status == "ok"
        self.kept[well] += 1
        if self.kept[well] > MAX_ROWS:
            self.more += 1
            return
        job_id = text(node, "job_id") if re.fullmatch(r"(?!\.)[A-Za-z0-9._-]{1,64}", text(node, "job_id")) else ""
        row = SimpleNamespace(
            line=line, status=status, job_id=job_id, reason=encode(text(node, "reason"))[:MAX_REASON].decode(errors="ignore"), details="", page=False,
            attempts=count(node, "attempts"), denials=len(entries(manifest, "denials")), figures=len(entries(manifest, "figures")), **measures,
            files=bool(job_id) and text(node, "output_dir") == f"jobs/{job_id}",
            # Is a file with a page's name the program's, or is that unknown?
            owns=not isinstance(manifest, dict) or job.lists(manifest, "report.html"))
        if isinstance(manifest, dict) and self.detailed[well] < DETAILS[well]:
            self.detailed[well] += 1
            row.details = pages.environment.get_template("details.html").module.details(manifest, *notes_of(manifest))
        self.rows.append(row)

    def page(self, title, has_page, version):
        """The page as bytes. `has_page(job_id, owns)`: whether a job with files has a page to link to."""
        for line in sorted(self.begun - self.resulted):
            self.counts[NO_RESULT] += 1
            self.keep(line, NO_RESULT, {}, wall=math.nan, cpu=math.nan, memory=math.nan)
        self.rows.sort(key=lambda row: row.line)
        for row in self.rows:
            row.page = row.files and has_page(row.job_id, row.owns)
        drawn = [charts.histogram("Time by the clock", self.walls, time), charts.histogram("Memory, at most", self.memories, size)] if self.walls else []
        return pages.render("batch.html", title=title, sub="batch", sortable=True, version=version, batch=self, charts=[one for one in drawn if one],
                            total=sum(self.counts.values()), wall=sum(self.walls), memory_peak=max(self.memories, default=0))
