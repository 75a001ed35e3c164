"""What administrators of a hotcelld may: look at everybody's jobs, end them, hold tenants, drain the daemon. See hotcelld(8),
ADMINISTRATORS. The methods have the names of the routes below /v1/admin."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Dict, List, Optional, Union
from urllib.parse import urlencode

from .daemon import json_flow, quoted
from .errors import NotFound
from .wire import Flow, Place, aresult_of, result_of

Since = Union[str, datetime]


def _since_of(since: Optional[Since]) -> Optional[str]:
    """As the daemon takes it, in UTC; a time without a zone is of this host's."""
    if isinstance(since, datetime):
        return since.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return since


def _list_flow(place: Place, which: Dict[str, Any]) -> Flow:
    """Returns jobs and open sessions."""
    given = {name: _since_of(value) if name == "since" else value for name, value in which.items() if value is not None}
    return json_flow(place, "GET", f"/v1/admin/jobs?{urlencode(given)}" if given else "/v1/admin/jobs")


def _get_flow(place: Place, path: str) -> Flow:
    return json_flow(place, "GET", f"/v1/admin/{path}")


def _job_flow(place: Place, job_id: str) -> Flow:
    """The daemon says that there is none; this says which."""
    try:
        return (yield from _get_flow(place, _named("jobs", job_id)))
    except NotFound as error:
        error.args = (f"{job_id}: {error}", *error.args[1:])
        raise


def _order_flow(place: Place, path: str, reason: Optional[str]) -> Flow:
    return json_flow(place, "POST", f"/v1/admin/{path}", None if reason is None else {"reason": reason})


def _named(kind: str, name: str, what: str = "") -> str:
    part = quoted(name, "tenant" if kind == "tenants" else "job_id")
    return f"{kind}/{part}{what and '/'}{what}"


class Admin:
    """What is asked of a daemon as its administrator: `Daemon.admin`. PolicyProblem: the caller is none; NotFound.

    A `reason` is one line of at most 200 bytes: for the daemon's log, and for whom it is about."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def jobs(self, *, tenant: Optional[str] = None, state: Optional[str] = None, status: Optional[str] = None,
             policy: Optional[str] = None, since: Optional[Since] = None, number: Optional[int] = None) -> List[Dict[str, Any]]:
        """Jobs of all tenants, newest first, a thousand at most: those of which this is true."""
        which = {"tenant": tenant, "state": state, "status": status, "policy": policy, "since": since, "number": number}
        return list(result_of(_list_flow(self._place, which))["jobs"])

    def sessions(self, *, tenant: Optional[str] = None) -> List[Dict[str, Any]]:
        """The open sessions of all tenants."""
        return list(result_of(_list_flow(self._place, {"tenant": tenant}))["sessions"])

    def job(self, job_id: str) -> Dict[str, Any]:
        """All that is told of a job, what it asks for while it has not ended, or of an open session."""
        return dict(result_of(_job_flow(self._place, job_id)))

    def cancel(self, job_id: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """End a job or a session. What is told of it now."""
        return dict(result_of(_order_flow(self._place, _named("jobs", job_id, "cancel"), reason)))

    def tenants(self) -> List[Dict[str, Any]]:
        """What tenants have running, waiting, open and stored, and how much of that they may have."""
        return list(result_of(_get_flow(self._place, "tenants"))["tenants"])

    def hold(self, tenant: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Let the jobs of a tenant wait, and no session of it begin."""
        return dict(result_of(_order_flow(self._place, _named("tenants", tenant, "hold"), reason)))

    def release(self, tenant: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Let the jobs of a tenant that is held run again."""
        return dict(result_of(_order_flow(self._place, _named("tenants", tenant, "release"), reason)))

    def drain(self, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Have the daemon take no new jobs and sessions; those that it has accepted still run. What is left of them."""
        return dict(result_of(_order_flow(self._place, "drain", reason)))

    def resume(self, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Have the daemon take jobs again."""
        return dict(result_of(_order_flow(self._place, "resume", reason)))


class AsyncAdmin:
    """As Admin, for an event loop: `AsyncDaemon.admin`."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def jobs(self, *, tenant: Optional[str] = None, state: Optional[str] = None, status: Optional[str] = None,
                   policy: Optional[str] = None, since: Optional[Since] = None,
                   number: Optional[int] = None) -> List[Dict[str, Any]]:
        """As Admin.jobs."""
        which = {"tenant": tenant, "state": state, "status": status, "policy": policy, "since": since, "number": number}
        return list((await aresult_of(_list_flow(self._place, which)))["jobs"])

    async def sessions(self, *, tenant: Optional[str] = None) -> List[Dict[str, Any]]:
        """As Admin.sessions."""
        return list((await aresult_of(_list_flow(self._place, {"tenant": tenant})))["sessions"])

    async def job(self, job_id: str) -> Dict[str, Any]:
        """As Admin.job."""
        return dict(await aresult_of(_job_flow(self._place, job_id)))

    async def cancel(self, job_id: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """As Admin.cancel."""
        return dict(await aresult_of(_order_flow(self._place, _named("jobs", job_id, "cancel"), reason)))

    async def tenants(self) -> List[Dict[str, Any]]:
        """As Admin.tenants."""
        return list((await aresult_of(_get_flow(self._place, "tenants")))["tenants"])

    async def hold(self, tenant: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """As Admin.hold."""
        return dict(await aresult_of(_order_flow(self._place, _named("tenants", tenant, "hold"), reason)))

    async def release(self, tenant: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """As Admin.release."""
        return dict(await aresult_of(_order_flow(self._place, _named("tenants", tenant, "release"), reason)))

    async def drain(self, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """As Admin.drain."""
        return dict(await aresult_of(_order_flow(self._place, "drain", reason)))

    async def resume(self, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """As Admin.resume."""
        return dict(await aresult_of(_order_flow(self._place, "resume", reason)))
