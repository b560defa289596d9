"""Joining: once, durably, and never as somebody else."""

from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import pytest
from tests.worker.conftest import NOT_SENT, THROTTLED, UNKNOWN

from journeyman.domain.errors import NetworkError, SafetyError, StateError
from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import AccessToken, AgentId, IdempotencyKey, Identity
from journeyman.journal.identity import (
    AnswerFile,
    RegistrationAnswer,
    load_identity,
    save_identity,
)
from journeyman.journal.journal import Journal
from journeyman.network.call import Arrival, Keep
from journeyman.network.client import NetworkClient
from journeyman.network.registration import Registration
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog
from journeyman.worker.join import (
    IdentityFiles,
    Join,
    given_at_registration,
    is_registration_unknown,
)

URL = "http://network.example"
DAY = 86_400


def registered(credits_: int | None = 100) -> Outcome[Registration]:
    return Confirmed(Registration(AgentId("agent-1"), AccessToken("tok"), credits_))


class ScriptedRegistrar(NetworkClient):
    """Answers from a script, when it is let to."""

    def __init__(self) -> None:
        self.script: list[Outcome[Registration]] = []
        self.keys: list[IdempotencyKey] = []
        self.body = b""
        self.is_whole = False
        self.may_answer = anyio.Event()
        self.may_answer.set()

    async def register(
        self, key: IdempotencyKey, keep: Keep | None = None
    ) -> Outcome[Registration]:
        self.keys.append(key)
        await self.may_answer.wait()
        if self.body and keep:
            keep(Arrival({}, self.body, self.is_whole))
        return self.script.pop(0) if self.script else registered()

    def read_registration(
        self, body: bytes, headers: Mapping[str, str]
    ) -> Registration | None:
        """Read `agent token credits`."""
        assert not headers
        words = body.decode().split()
        if len(words) != 3:
            return None
        agent_id, token, credits_ = words
        return Registration(AgentId(agent_id), AccessToken(token), int(credits_))


class HurriedClock(FakeClock):
    """A clock on which a sleep takes no time."""

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        await super().sleep(0)


class Entrance:
    """One data directory in front of one network."""

    def __init__(self, folder: Path) -> None:
        self.clock = HurriedClock()
        self.network = ScriptedRegistrar()
        self.log = RecordingLog()
        self.randomness = FakeRandomness()
        self.identity_file = folder / "identity.json"
        self.journal_file = folder / "journal.db"
        self.answers = AnswerFile(folder / "registration.answer")
        self.save: Callable[[Identity], None] = self._save

    async def join(self, base_url: str = URL) -> Identity:
        """Start once."""
        with Journal(self.journal_file, self.clock.now) as journal:
            return await Join(
                network=self.network,
                journal=journal,
                identity_files=IdentityFiles(
                    load=lambda: load_identity(self.identity_file),
                    save=self.save,
                    answers=self.answers,
                ),
                base_url=base_url,
                retry=RetryPolicy(),
                clock=self.clock,
                randomness=self.randomness,
                log=self.log,
            ).run()

    def is_unknown(self) -> bool:
        with Journal(self.journal_file, self.clock.now) as journal:
            return is_registration_unknown(journal)

    @property
    def balance(self) -> int:
        with Journal(self.journal_file, self.clock.now) as journal:
            return journal.ledger.balance()

    def _save(self, identity: Identity) -> None:
        save_identity(self.identity_file, identity)


@pytest.fixture
def entrance(tmp_path: Path) -> Entrance:
    return Entrance(tmp_path)


async def test_joining_gives_an_identity_on_disk_and_the_starter_credits(
    entrance: Entrance,
) -> None:
    identity = await entrance.join()

    assert load_identity(entrance.identity_file) == identity
    assert identity == Identity(AgentId("agent-1"), AccessToken("tok"), URL)
    assert entrance.balance == 100
    assert entrance.log.names == ["identity.joined"]


async def test_who_has_joined_registers_no_more(entrance: Entrance) -> None:
    first = await entrance.join()

    assert await entrance.join() == first
    assert len(entrance.network.keys) == 1
    assert entrance.balance == 100
    assert entrance.log.names == ["identity.joined", "identity.known"]


@pytest.mark.parametrize(("shown", "booked"), [(None, 100), (100, 100), (250, 250)])
async def test_the_credits_that_the_answer_names_are_booked_else_the_contracts(
    entrance: Entrance, shown: int | None, booked: int
) -> None:
    entrance.network.script = [registered(shown)]

    await entrance.join()

    assert entrance.balance == booked


async def test_what_else_names_the_agent_outlives_the_process(
    entrance: Entrance,
) -> None:
    given = {"register.workerNumber": 41}
    agent = Registration(AgentId("agent-1"), AccessToken("tok"), 100, given=given)
    entrance.network.script = [Confirmed(agent)]

    await entrance.join()

    with Journal(entrance.journal_file, entrance.clock.now) as journal:
        assert given_at_registration(journal) == given


@pytest.mark.parametrize("answer", [UNKNOWN, NOT_SENT])
async def test_a_registration_that_did_not_end_clearly_is_repeated_with_one_key(
    entrance: Entrance, answer: Outcome[Registration]
) -> None:
    entrance.network.script = [answer, answer]

    await entrance.join()

    assert len(entrance.network.keys) == 3
    assert len(set(entrance.network.keys)) == 1
    assert entrance.log.names.count("identity.join_delayed") == 2


async def test_the_key_outlives_the_process(entrance: Entrance) -> None:
    entrance.network.script = [NOT_SENT] * 3
    with pytest.raises(NetworkError, match=f"could not join {URL}: no connection"):
        await entrance.join()

    await entrance.join()

    assert len(set(entrance.network.keys)) == 1


async def test_a_definite_no_is_told_at_once(entrance: Entrance) -> None:
    entrance.network.script = [THROTTLED]

    with pytest.raises(NetworkError, match=r"slow down[\s\S]*--sandbox"):
        await entrance.join()

    assert len(entrance.network.keys) == 1


async def test_a_registration_that_may_have_happened_is_repeated_three_times_a_day(
    entrance: Entrance,
) -> None:
    entrance.network.script = [UNKNOWN] * 3
    with pytest.raises(NetworkError):
        await entrance.join()

    with pytest.raises(SafetyError, match=r"3 times[\s\S]*second agent"):
        await entrance.join()
    entrance.clock.advance(DAY)
    await entrance.join()

    assert len(entrance.network.keys) == 4
    assert len(set(entrance.network.keys)) == 1


async def test_tries_that_certainly_did_nothing_do_not_count(
    entrance: Entrance,
) -> None:
    for _ in range(4):
        entrance.network.script = [NOT_SENT] * 3
        with pytest.raises(NetworkError):
            await entrance.join()

    await entrance.join()


async def test_a_crash_loop_during_registration_is_no_storm(
    entrance: Entrance,
) -> None:
    entrance.network.may_answer = anyio.Event()
    for _ in range(3):
        with Journal(entrance.journal_file, entrance.clock.now) as journal:
            # What a start writes before its request leaves; then it is killed.
            join = Join(
                network=entrance.network,
                journal=journal,
                identity_files=IdentityFiles(
                    load=lambda: None,
                    save=lambda _identity: None,
                    answers=entrance.answers,
                ),
                base_url=URL,
                retry=RetryPolicy(),
                clock=entrance.clock,
                randomness=entrance.randomness,
                log=entrance.log,
            )
            join.intent.open()

    with pytest.raises(SafetyError):
        await entrance.join()


async def test_a_stop_waits_for_an_answer_that_may_carry_the_only_token(
    entrance: Entrance,
) -> None:
    entrance.network.may_answer = anyio.Event()

    async with anyio.create_task_group() as group:
        group.start_soon(entrance.join)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
        entrance.network.may_answer.set()

    assert load_identity(entrance.identity_file) is not None
    assert entrance.balance == 100


async def test_the_token_is_on_disk_before_anything_is_booked(
    entrance: Entrance,
) -> None:
    def fail(_: Identity) -> None:
        raise StateError("the disk is full")

    entrance.save = fail

    with pytest.raises(StateError):
        await entrance.join()

    assert entrance.balance == 0


async def test_a_crash_between_token_and_booking_ends_with_the_credits_booked_once(
    entrance: Entrance,
) -> None:
    def save_and_crash(identity: Identity) -> None:
        save_identity(entrance.identity_file, identity)
        raise KeyboardInterrupt

    entrance.save = save_and_crash
    with pytest.raises(KeyboardInterrupt):
        await entrance.join()

    identity = Identity(AgentId("agent-1"), AccessToken("tok"), URL)
    assert await entrance.join() == identity
    assert await entrance.join() == identity

    assert len(entrance.network.keys) == 1
    assert entrance.balance == 100


async def test_an_identity_of_another_network_is_refused(entrance: Entrance) -> None:
    await entrance.join()

    with pytest.raises(SafetyError, match=r"belongs to[\s\S]*other\.example") as caught:
        await entrance.join("http://other.example")

    assert caught.value.exit_code == 6
    assert "tok" not in str(caught.value).replace("token", "")


async def test_a_lost_identity_is_not_replaced_while_its_journal_is_there(
    entrance: Entrance,
) -> None:
    await entrance.join()
    entrance.identity_file.unlink()

    with pytest.raises(SafetyError, match=r"agent-1[\s\S]*backup"):
        await entrance.join()

    assert len(entrance.network.keys) == 1


async def test_an_agent_whose_journal_is_lost_does_not_begin_as_a_new_one(
    entrance: Entrance,
) -> None:
    identity = await entrance.join()
    entrance.journal_file.unlink()

    for _ in range(2):
        with pytest.raises(SafetyError, match=r"missing[\s\S]*journal restore"):
            await entrance.join()

    assert load_identity(entrance.identity_file) == identity
    assert entrance.balance == 0


async def test_the_ledger_of_one_agent_does_not_go_on_as_anothers(
    entrance: Entrance,
) -> None:
    await entrance.join()
    save_identity(
        entrance.identity_file, Identity(AgentId("agent-2"), AccessToken("t2"), URL)
    )

    with pytest.raises(SafetyError, match="agent-1, and the identity is agent-2"):
        await entrance.join()


async def test_the_raw_answer_is_on_disk_until_the_identity_is(
    entrance: Entrance,
) -> None:
    entrance.network.body = b"agent-1 tok 100"
    seen: list[RegistrationAnswer | None] = []

    def save(identity: Identity) -> None:
        seen.append(entrance.answers.load())
        save_identity(entrance.identity_file, identity)

    entrance.save = save
    await entrance.join()

    assert seen == [RegistrationAnswer(URL, b"agent-1 tok 100")]
    assert entrance.answers.load() is None


async def test_a_token_that_arrived_before_a_crash_is_not_lost(
    entrance: Entrance,
) -> None:
    entrance.answers.keep(RegistrationAnswer(URL, b"agent-7 tok-7 120"))

    identity = await entrance.join()

    assert identity == Identity(AgentId("agent-7"), AccessToken("tok-7"), URL)
    assert load_identity(entrance.identity_file) == identity
    assert entrance.network.keys == []
    assert entrance.balance == 120
    assert entrance.answers.load() is None
    assert entrance.log.names == ["identity.rescued", "identity.known"]


async def test_a_token_that_was_kept_goes_to_its_own_network_alone(
    entrance: Entrance,
) -> None:
    entrance.answers.keep(
        RegistrationAnswer("http://other.example", b"agent-7 tok-7 120")
    )
    with (
        Journal(entrance.journal_file, entrance.clock.now) as journal,
        journal.tx("intent"),
    ):
        journal.facts.put("registration", {"key": "join_1"})

    with pytest.raises(SafetyError, match=r"other\.example"):
        await entrance.join()

    kept = load_identity(entrance.identity_file)
    assert kept is not None
    assert kept.base_url == "http://other.example"
    assert (await entrance.join("http://other.example")).agent_id == "agent-7"


async def test_an_answer_of_another_agent_takes_no_ones_place(
    entrance: Entrance,
) -> None:
    identity = await entrance.join()
    entrance.answers.keep(RegistrationAnswer(URL, b"agent-7 tok-7 120"))

    assert await entrance.join() == identity
    assert entrance.answers.load() is not None

    entrance.identity_file.unlink()
    with pytest.raises(SafetyError, match="identity is missing"):
        await entrance.join()


async def test_an_answer_that_was_left_over_is_removed(entrance: Entrance) -> None:
    await entrance.join()
    entrance.answers.keep(RegistrationAnswer(URL, b"agent-1 tok 100"))

    await entrance.join()

    assert entrance.answers.load() is None


async def test_an_answer_that_nobody_can_read_is_kept_and_told(
    entrance: Entrance,
) -> None:
    entrance.network.body = b"<html>"
    entrance.network.script = [UNKNOWN] * 3

    with pytest.raises(NetworkError, match=r"kept in .*registration\.answer"):
        await entrance.join()

    assert entrance.answers.load() == RegistrationAnswer(URL, b"<html>")


async def test_a_success_that_nobody_can_read_is_never_sent_again(
    entrance: Entrance,
) -> None:
    entrance.network.body, entrance.network.is_whole = b"<html>", True
    entrance.network.script = [UNKNOWN]

    for _ in range(3):
        with pytest.raises(SafetyError, match=r"registration\.answer") as caught:
            await entrance.join()
        assert "identity import" in caught.value.fix
        entrance.clock.advance(DAY)

    assert len(entrance.network.keys) == 1
    assert entrance.is_unknown()
    kept = RegistrationAnswer(URL, b"<html>", {}, is_whole=True)
    assert entrance.answers.load() == kept


async def test_a_success_that_a_killed_process_has_not_read_is_not_sent_again(
    entrance: Entrance,
) -> None:
    entrance.answers.keep(RegistrationAnswer(URL, b"<html>", {}, is_whole=True))

    with pytest.raises(SafetyError, match="a web page, not an agent"):
        await entrance.join()

    assert entrance.network.keys == []


async def test_a_success_that_the_disk_did_not_keep_is_not_sent_again_either(
    entrance: Entrance, tmp_path: Path
) -> None:
    entrance.answers = AnswerFile(tmp_path / "nowhere" / "registration.answer")
    entrance.network.body, entrance.network.is_whole = b"<html>", True
    entrance.network.script = [UNKNOWN]
    for _ in range(2):
        with pytest.raises(SafetyError):
            await entrance.join()

    assert len(entrance.network.keys) == 1


async def test_what_another_service_has_answered_stands_in_nobodys_way(
    entrance: Entrance,
) -> None:
    entrance.network.body, entrance.network.is_whole = b"<html>", True
    entrance.network.script = [UNKNOWN]
    with pytest.raises(SafetyError):
        await entrance.join("http://wrong.example")
    entrance.network.body = b""

    assert (await entrance.join()).base_url == URL


async def test_an_agent_that_is_found_by_searching_is_joined(
    entrance: Entrance,
) -> None:
    entrance.network.body, entrance.network.is_whole = b"agent-1 tok 100", True
    entrance.network.script = [UNKNOWN]

    identity = await entrance.join()

    assert identity == Identity(AgentId("agent-1"), AccessToken("tok"), URL)
    assert len(entrance.network.keys) == 1


async def test_a_success_that_says_no_is_told_and_may_be_tried_again(
    entrance: Entrance,
) -> None:
    entrance.network.body, entrance.network.is_whole = b"<no>", True
    entrance.network.script = [THROTTLED]
    with pytest.raises(NetworkError):
        await entrance.join()
    entrance.network.body = b""

    await entrance.join()

    assert len(entrance.network.keys) == 2


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        (Refused(Refusal.UNAUTHORIZED, "No API key", 401), "headers = { apikey"),
        (Refused(Refusal.ABSENT, "404 Not Found", 404), "network.base_url"),
        (Refused(Refusal.INVALID, "400 Bad Request", 400), "say the same again"),
    ],
)
async def test_a_no_is_told_with_what_can_be_done_about_it(
    entrance: Entrance, refusal: Refused, advice: str
) -> None:
    entrance.network.script = [refusal]

    with pytest.raises(NetworkError) as caught:
        await entrance.join()

    assert caught.value.exit_code == 7
    assert refusal.message in caught.value.problem
    assert advice in caught.value.fix
    assert "try again" not in caught.value.fix


async def test_an_answer_that_cannot_be_stored_is_still_used(
    entrance: Entrance, tmp_path: Path
) -> None:
    entrance.answers = AnswerFile(tmp_path / "nowhere" / "registration.answer")
    entrance.network.body = b"agent-1 tok 100"

    with pytest.raises(StateError, match="cannot be removed"):
        await entrance.join()

    assert load_identity(entrance.identity_file) is not None
    assert "identity.answer_not_kept" in entrance.log.names


async def test_whether_a_registration_may_have_happened_is_remembered(
    entrance: Entrance,
) -> None:
    entrance.network.script = [NOT_SENT] * 3
    with pytest.raises(NetworkError):
        await entrance.join()
    assert not entrance.is_unknown()

    entrance.network.script = [UNKNOWN] * 3
    with pytest.raises(NetworkError):
        await entrance.join()
    entrance.clock.advance(DAY)
    entrance.network.script = [NOT_SENT] * 3
    with pytest.raises(NetworkError):
        await entrance.join()
    assert entrance.is_unknown()

    await entrance.join()
    assert not entrance.is_unknown()
