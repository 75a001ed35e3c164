"""A real browser for tests, spoken to over a pipe by the Chrome DevTools Protocol: Debian's Chromium, without a network.

    with browser.start() as page:
        page.show(path, width=390, dark=True)
        assert page.evaluate("document.title") == "..."
        page.picture(file)
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile

import cells


class Browser:
    def __init__(self, process, to_browser, from_browser):
        self._process, self._to, self._from = process, to_browser, from_browser
        self._rest, self._next, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = None
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Security"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    # ---- messages ----

    def call(self, method, **parameters):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        while True:
            answer = self._read()
            if answer.get("id") == self._next:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _read(self):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], cells.PATIENCE)
            assert ready, "the browser does not answer"
            data = os.read(self._from, 1 << 16)
            assert data, "the browser has ended"
            self._rest += data
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append((message["method"], message["params"]))
        return message

    def wait(self, method, **wanted):
        while not any(name == method and wanted.items() <= event.items() for name, event in self.events):
            self._read()

    # ---- pages ----

    def show(self, path, width=1400, height=900, dark=False, script=True):
        """Load a file anew. `script`: whether the page's own may run."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        begun = self.call("Page.navigate", url=f"file://{path}")
        assert "errorText" not in begun, begun
        self.wait("Page.lifecycleEvent", name="load", loaderId=begun["loaderId"])

    def evaluate(self, expression):
        """By the debugger, which no policy of the page's binds."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path, most=6000):
        """The page as PNG, as far as that is not too long."""
        width, height = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": min(height, most), "scale": 1})["data"]
        path.write_bytes(base64.b64decode(data))

    def requests(self):
        """Addresses that the page wanted to load beside the page itself and what the page holds: {URL: whether the page's policy let it}."""
        blocked = {event["requestId"] for name, event in self.events if name == "Network.loadingFailed" and event.get("blockedReason") == "csp"}
        asked = [event for name, event in self.events if name == "Network.requestWillBeSent"][1:]
        return {event["request"]["url"]: event["requestId"] not in blocked for event in asked if not event["request"]["url"].startswith("data:")}

    def dialogs(self):
        return [event for name, event in self.events if name == "Page.javascriptDialogOpening"]

    def complaints(self):
        """Texts that the browser wrote to the page's console: broken rules of the policy, errors of scripts."""
        return [event["entry"]["text"] for name, event in self.events if name == "Log.entryAdded"]


def pipes():
    """Two, beyond the descriptors that it wants them on."""
    first = (*os.pipe(), *os.pipe())
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in first]
    for fd in first:
        os.close(fd)
    return moved


@contextlib.contextmanager
def start():
    cells.need_program("chromium")
    home = tempfile.mkdtemp(prefix="browser-", dir=cells.scratch())
    read_by_it, to_it, from_it, written_by_it = pipes()
    # Its protocol is on the descriptors 3 and 4; the shell puts them there.
    command = ["/bin/bash", "-c", f'exec "$@" 3<&{read_by_it} 4>&{written_by_it} {read_by_it}<&- {written_by_it}>&-', "bash",
               "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
               "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server", "--disable-extensions",
               "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={home}", "--remote-debugging-pipe"]
    with (cells.Path(home) / "log").open("wb") as log:
        process = subprocess.Popen(command, pass_fds=(read_by_it, written_by_it), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home}, start_new_session=True)
    os.close(read_by_it)
    os.close(written_by_it)
    try:
        yield Browser(process, to_it, from_it)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(to_it)
        os.close(from_it)
        shutil.rmtree(home, ignore_errors=True)

