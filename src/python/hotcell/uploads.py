"""Content that is too large for a request to hotcelld: it goes there before the request, in parts. See hotcelld(8), UPLOADS."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Union

from .errors import DaemonLost, HotcellError, InputError
from .staging import Large, to_json
from .wire import Flow, Place, exchange

PART = 8 << 20  # bytes of an upload in one request
OCTETS = {"Content-Type": "application/octet-stream"}


@dataclass
class Body:
    """The body of a request whose inputs named in `large` have their content elsewhere."""

    spec: Dict[str, Any]
    large: Large

    def encoded(self) -> bytes:
        """The body as it is sent."""
        return to_json(self.spec, "spec").encode("utf-8", "surrogatepass")


def settled(place: Place, body: Union[bytes, Body], uploads: List[str], again: bool = False) -> Flow:
    """Returns the body as bytes, once its large content is there; adds the ids of new uploads to `uploads`. `again`: the same
    request may be sent more than once, so that uploads of the same content are used again, and the body stays the same."""
    if isinstance(body, bytes):
        return body
    inputs = dict(body.spec["inputs"])
    for name, source in body.large.items():
        inputs[name] = {**inputs[name], "upload": (yield from _upload_flow(place, name, source, uploads, again))}
    return Body({**body.spec, "inputs": inputs}, {}).encoded()


def forgotten(place: Place, uploads: List[str]) -> Flow:
    """Remove uploads that are of no more use; those that cannot be removed go with their age."""
    for upload_id in uploads:
        with contextlib.suppress(HotcellError):
            yield from exchange(place, "DELETE", f"/v1/uploads/{upload_id}")


def _upload_flow(place: Place, name: str, source: Union[bytes, Path], uploads: List[str], again: bool) -> Flow:
    if again:
        digest = hashlib.sha256()
        for part in _parts(name, source):
            digest.update(part)
        for each in (yield from _json_flow(place, "GET", "/v1/uploads"))["uploads"]:
            if each["state"] == "finished" and each["sha256"] == digest.hexdigest():
                return each["upload_id"]
    begun = yield from _json_flow(place, "POST", "/v1/uploads")
    upload_id, digest, offset = str(begun["upload_id"]), hashlib.sha256(), 0
    uploads.append(upload_id)
    try:
        for part in _parts(name, source):
            yield from exchange(place, "POST", f"/v1/uploads/{upload_id}/parts?offset={offset}", part, OCTETS)
            digest.update(part)
            offset += len(part)
        yield from _json_flow(place, "POST", f"/v1/uploads/{upload_id}/finish", {"sha256": digest.hexdigest()})
    except HotcellError:
        yield from forgotten(place, [upload_id])
        raise
    return upload_id


def _parts(name: str, source: Union[bytes, Path]) -> Iterator[bytes]:
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb") as file:
            while True:
                part = file.read(PART)
                if not part:
                    return
                yield part
    except OSError as error:
        raise InputError(f"inputs: {name}: {source!s}: {error.strerror}") from error


def _json_flow(place: Place, method: str, path: str, body: Any = None) -> Flow:
    _, content = yield from exchange(place, method, path, body)
    try:
        answer = json.loads(content)
        if path == "/v1/uploads":
            answer["uploads" if method == "GET" else "upload_id"]
        return answer
    except (KeyError, TypeError, ValueError) as error:
        raise DaemonLost(f"{place.name}: the answer is not as it should be") from error
