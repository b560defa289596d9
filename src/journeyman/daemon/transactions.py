"""The owner's transactions: the same in a running daemon and from the command line."""

from journeyman.daemon.agent import Agent
from journeyman.domain import JSON, NewTask, SpendId
from journeyman.domain.errors import JourneymanError, NetworkError, SafetyError
from journeyman.domain.outcome import Failure, Unknown
from journeyman.economy import NotAccepted, NotOpened, OverBudget


async def post_task(agent: Agent, new: NewTask) -> dict[str, JSON]:
    """Publish a task.

    Raises:
        SafetyError: a limit of the owner's says no.
        NetworkError: the network did not take it, or may have.
    """
    done = await agent.posting.post(new)
    if isinstance(done, OverBudget):
        raise _over_budget("the post", done)
    if isinstance(done, NotAccepted):
        raise _not_done("the task was not posted", done.failure, done.spend_id)
    return {
        "spend_id": done.spend_id,
        "task_id": done.task_id,
        "reward": new.reward,
        "balance": agent.journal.ledger.balance(),
    }


async def top_up(agent: Agent, credits_: int) -> dict[str, JSON]:
    """Ask for a payment page.

    Raises:
        SafetyError: a cap of the owner's says no.
        NetworkError: the network made no page, or may have.
    """
    asked = await agent.top_up.ask(agent.identity.agent_id, credits_)
    if isinstance(asked, OverBudget):
        raise _over_budget("the top-up", asked)
    if isinstance(asked, NotOpened):
        raise _not_done("no payment page was made", asked.failure, asked.spend_id)
    return {
        "spend_id": asked.spend_id,
        "url": asked.url,
        "credits": asked.credits,
        "cents": asked.cents,
    }


def settle_top_up(agent: Agent, spend_id: SpendId, *, paid: bool) -> dict[str, JSON]:
    """Book a top-up on the owner's word, or forget it.

    Raises:
        SafetyError: no such top-up waits.
    """
    settle = agent.top_up.confirm if paid else agent.top_up.cancel
    spend = settle(spend_id)
    return {
        "spend_id": spend.spend_id,
        "credits": spend.credits,
        "booked": paid,
        "balance": agent.journal.ledger.balance(),
    }


def _over_budget(what: str, over: OverBudget) -> SafetyError:
    return SafetyError(
        f"{what} would break a limit of yours: {over.message}",
        f"Nothing was sent. The setting is {over.setting}.",
    )


def _not_done(what: str, failure: Failure, spend_id: SpendId) -> JourneymanError:
    if isinstance(failure, Unknown):
        return NetworkError(
            f"{what}, or it was: {failure.message}",
            f"It counts as spent ({spend_id}) and is not sent again by itself.",
        )
    return NetworkError(f"{what}: {failure.message}", "Nothing was spent.")
