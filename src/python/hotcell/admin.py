"""Requests of a hotcelld's administrators: list and end the jobs of all tenants, hold tenants, drain the daemon. See
hotcelld(8), ADMINISTRATORS. The methods have the names of the routes below /v1/admin."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Dict, List, Optional, Union
from urllib.parse import urlencode

from .daemon import json_flow, quoted
from .errors import NotFound
from .wire import Flow, Place, aresult_of, result_of

Since = Union[str, datetime]


def _since_of(since: Optional[Since]) -> Optional[str]:
    """A time as text in UTC, for the daemon; a datetime without a zone is in this host's zone."""
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
    """Returns what the daemon tells of a job. The message of NotFound gets the job's id."""
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
    """An administrator's requests to a daemon, as `Daemon.admin`. They raise PolicyProblem if the caller is no
    administrator, and NotFound if there is no such job or tenant.

    A `reason` is one line of at most 200 bytes, for the daemon's log and for the tenant."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def jobs(self, *, tenant: Optional[str] = None, state: Optional[str] = None, status: Optional[str] = None,
             policy: Optional[str] = None, since: Optional[Since] = None, number: Optional[int] = None) -> List[Dict[str, Any]]:
        """Jobs of all tenants, newest first, at most 1000 (or `number`). Each argument restricts the list; `since` is a time
        or its text, such as "2025-01-31T12:00:00Z"."""
        which = {"tenant": tenant, "state": state, "status": status, "policy": policy, "since": since, "number": number}
        return list(result_of(_list_flow(self._place, which))["jobs"])

    def sessions(self, *, tenant: Optional[str] = None) -> List[Dict[str, Any]]:
        """The open sessions of all tenants."""
        return list(result_of(_list_flow(self._place, {"tenant": tenant}))["sessions"])

    def job(self, job_id: str) -> Dict[str, Any]:
        """The daemon's record of a job or an open session; while it has not ended, with the resources that it asks for."""
        return dict(result_of(_job_flow(self._place, job_id)))

    def cancel(self, job_id: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """End a job or a session. Returns its record."""
        return dict(result_of(_order_flow(self._place, _named("jobs", job_id, "cancel"), reason)))

    def tenants(self) -> List[Dict[str, Any]]:
        """For each tenant the numbers of running and waiting jobs, open sessions and stored bytes, and its quotas."""
        return list(result_of(_get_flow(self._place, "tenants"))["tenants"])

    def hold(self, tenant: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Hold a tenant: its jobs wait, and it can begin no session."""
        return dict(result_of(_order_flow(self._place, _named("tenants", tenant, "hold"), reason)))

    def release(self, tenant: str, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Release a held tenant: its jobs run again."""
        return dict(result_of(_order_flow(self._place, _named("tenants", tenant, "release"), reason)))

    def drain(self, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Have the daemon refuse new jobs and sessions; those that it has accepted still run. Returns how many are left."""
        return dict(result_of(_order_flow(self._place, "drain", reason)))

    def resume(self, *, reason: Optional[str] = None) -> Dict[str, Any]:
        """Have the daemon accept jobs and sessions again."""
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
