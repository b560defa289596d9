"""All checks, one after another; none of them can stop the others."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial

from journeyman.daemon.cluster import cluster_of
from journeyman.daemon.doctor import network as reach
from journeyman.daemon.doctor import storage
from journeyman.daemon.doctor.cluster import judge
from journeyman.daemon.doctor.finding import Finding, Grade, fail, ok, skip, warn
from journeyman.daemon.doctor.network import Service
from journeyman.daemon.environment import Environment
from journeyman.daemon.strategies import strategy_folders
from journeyman.daemon.untrusted import describer_for, isolation_of, load_as_trusted
from journeyman.domain.errors import JourneymanError
from journeyman.journal.directory import DataDirectory
from journeyman.journal.identity import load_identity
from journeyman.settings.sections import Settings

Check = Callable[[], Finding | Awaitable[Finding]]


STORAGE_CHECKS = (
    *("data directory", "writing", "disk space", "token", "identity"),
    *("daemon", "journal", "earning", "quarantine"),
)


@dataclass(kw_only=True, eq=False)
class Examination:
    """Checks everything that is needed to work, in the order in which to mend it.

    Nothing is changed, unless `fix` lets a check repair what it found. What is read
    here may raise any JourneymanError: that is a finding.
    """

    read_settings: Callable[[], Settings]
    find_directory: Callable[[], DataDirectory]
    find_address: Callable[[Settings], str]
    """Returns the network's address: that of the settings, else of the one joined."""
    environment: Environment
    fix: bool = False
    findings: list[Finding] = field(init=False, default_factory=list)
    _settings: Settings | None = field(init=False, default=None)
    _address: str | None = field(init=False, default=None)

    async def run(self) -> list[Finding]:
        """Do all checks, and return a row for each."""
        await self._check("settings", self._check_settings)
        await self._check("network", self._check_address)
        await self._storage()
        await self._check("strategies", self._strategies)
        if self._settings is not None and self._settings.cluster.scheduler:
            await self._check("cluster", partial(self._cluster, self._settings))
        await self._network()
        return self.findings

    async def _check(self, name: str, check: Check) -> Finding:
        """Do one check; however it ends, it is a row."""
        found = await _guarded(check)
        if self.fix and found.repair is not None:
            repair = found.repair
            done = await _guarded(lambda: ok(repair()))
            again = await _guarded(check)
            found = replace(again, message=f"{again.message} (--fix: {done.message})")
        found = replace(found, check=name)
        self.findings.append(found)
        return found

    def _skip(self, why: str, *names: str) -> None:
        self.findings += [replace(skip(why), check=name) for name in names]

    def _check_settings(self) -> Finding:
        self._settings = self.read_settings()
        return ok("they can be read, and every value is allowed")

    def _check_address(self) -> Finding:
        if self._settings is None:
            return skip("the settings cannot be read")
        self._address = self.find_address(self._settings)
        return reach.check_address(self._address)

    async def _storage(self) -> None:
        try:
            at = self.find_directory()
        except JourneymanError:
            why = "the settings, which name the data directory, cannot be read"
            self._skip(why, *STORAGE_CHECKS)
            return
        clock = self.environment.clock
        await self._check("data directory", lambda: storage.check_directory(at))
        await self._check("writing", lambda: storage.check_writing(at))
        await self._check("disk space", lambda: self._space(at))
        await self._check("token", lambda: storage.check_tokens(at))
        await self._check("identity", lambda: storage.check_identity(at, self._address))
        await self._check("daemon", lambda: storage.check_daemon(at))
        await self._check("journal", lambda: storage.check_journal(at, clock))
        await self._check("earning", lambda: storage.check_earning(at, clock))
        await self._check("quarantine", lambda: storage.check_quarantine(at, clock))

    def _space(self, directory: DataDirectory) -> Finding:
        settings = self._settings or Settings()
        least, free = settings.data.min_free_mb, self.environment.free_bytes
        return storage.check_space(directory, free, least)

    async def _strategies(self) -> Finding:
        if self._settings is None:
            return skip("the settings cannot be read")
        # As the daemon loads them: a file that nobody has read is not imported here.
        with describer_for(self._settings) as describer:
            registry = await load_as_trusted(self._settings.strategies, describer)
        folders = strategy_folders(self._settings.strategies)
        if registry.problems:
            first = registry.problems[0]
            return fail(
                f"{len(registry.problems)} problems in {folders}, the first: "
                f"{first.code} {first.where}: {first.message}",
                f"{first.fix} `journeyman strategies list` shows all of them.",
            )
        if not registry.strategies:
            return warn(
                f"there is none in {folders}, so no task is wanted",
                "Put a strategy file there, or set strategies.directory.",
            )
        return ok(f"{len(registry.strategies)} loaded from {folders}")

    async def _cluster(self, settings: Settings) -> Finding:
        directory = DataDirectory(settings.data.directory)
        cluster = cluster_of(
            settings.cluster, isolation_of(settings.isolation, directory)
        )
        assert cluster is not None  # noqa: S101 - its scheduler is set; for the type checker
        async with cluster.running():
            status = await cluster.settled()
        return judge(cluster.address.scheduler, status)

    async def _network(self) -> None:
        later = ("connection", "clock", "endpoints", "documents")
        address = self._address
        if self._settings is None or address is None:
            self._skip("no network is known", "name", *later)
            return
        clock = self.environment.clock
        name = await self._check("name", lambda: reach.check_name(address))
        if name.grade is Grade.FAIL:
            self._skip("the network's name cannot be resolved", *later)
            return
        line = await self._check(
            "connection", lambda: reach.check_connection(address, clock)
        )
        if line.grade is Grade.FAIL:
            self._skip("there is no connection", *later[1:])
            return
        await self._service(self._settings, address)

    async def _service(self, settings: Settings, address: str) -> None:
        try:
            service = self._service_of(settings, address)
            look = await reach.check_service(service)
            found = await reach.read_documents(service)
        except Exception as error:  # noqa: BLE001 - a check that crashes is a row
            self.findings.append(replace(_crashed(error), check="endpoints"))
            return
        self.findings += [replace(finding, check=name) for name, finding in look.rows]
        await self._check("service", lambda: reach.check_place(address, look, found))
        await self._check("documents", lambda: reach.check_documents(found))

    def _service_of(self, settings: Settings, address: str) -> Service:
        """Use our identity only if this very network issued it."""
        identity = None
        try:
            known = load_identity(self.find_directory().identity)
        except JourneymanError:
            known = None  # reported by the check of the identity
        if known is not None and known.base_url.rstrip("/") == address.rstrip("/"):
            identity = known
            self.environment.redactor.add(known.access_token.reveal())
        return Service(settings, address, identity, self.environment)


async def _guarded(check: Check) -> Finding:
    try:
        found = check()
        return await found if inspect.isawaitable(found) else found
    except Exception as error:  # noqa: BLE001 - a check that crashes is a row
        return _crashed(error)


def _crashed(error: Exception) -> Finding:
    if isinstance(error, JourneymanError):
        return fail(error.problem, error.fix)
    if isinstance(error, OSError):
        return fail(f"the system says: {error}", "Check the rights of this user.")
    return fail(
        f"the check itself failed: {type(error).__name__}: {error}",
        "This is a bug; please report it.",
    )
