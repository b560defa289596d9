"""Other agents: they compete for tasks, and take those that clients post."""

import json
import sqlite3

from journeyman.sandbox import tasks, workshop
from journeyman.sandbox.agents import Newcomer, enroll, is_enrolled
from journeyman.sandbox.errors import Refusal
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.store import State, seeded

_WRONG_ONE_IN = 10
"""How often a rival hands in nonsense."""


class Rival:
    """One competing agent; what it does next is read from the data each time."""

    def __init__(self, state: State, number: int) -> None:
        """Seed it by the options and its number, so that runs can be repeated."""
        self._state = state
        self._agent_id = f"agent_rival_{number:02d}"
        self._rng = seeded(state.options.seed, "rival", number)
        self._newcomer = Newcomer(
            self._agent_id,
            f"rival-{number:02d}",
            f"Rival {number}",
            "rival",
        )

    async def run(self) -> None:
        """Take a step now and then, for ever."""
        with self._state.transaction():
            if not is_enrolled(self._state, self._agent_id):
                enroll(self._state, self._newcomer)
        while True:
            pace = self._rng.uniform(0.5, 1.5)
            await self._state.ambient.sleep(pace * self._state.options.rival_every)
            self.step()

    def step(self) -> None:
        """Do the next thing: complete, submit, or claim."""
        with self._state.transaction():
            task = self._unfinished()
            if task is None:
                self._claim()
            elif task["status"] == "submitted":
                tasks.complete(self._state, self._agent_id, task["task_id"])
            else:
                result = self._result(task)
                tasks.submit(self._state, self._agent_id, task["task_id"], result)

    def _unfinished(self) -> sqlite3.Row | None:
        query = """
            SELECT task_id, status, made, answer FROM tasks
            WHERE claimant = ? AND status IN ('claimed', 'submitted') LIMIT 1
        """
        row: sqlite3.Row | None
        row = self._state.db.execute(query, (self._agent_id,)).fetchone()
        return row

    def _claim(self) -> None:
        query = """
            SELECT task_id, kind, made FROM tasks WHERE status = 'open'
            ORDER BY sequence LIMIT 200
        """
        fit = [row for row in self._state.db.execute(query) if _is_doable(row)]
        if not fit:
            return
        try:
            tasks.claim(self._state, self._agent_id, self._rng.choice(fit)["task_id"])
        except Refusal:
            return  # A result of ours was rejected there before.
        workshop.refill(self._state)

    def _result(self, task: sqlite3.Row) -> object:
        if task["made"] is None:
            return f"Done by {self._newcomer.name}."
        if self._rng.randrange(_WRONG_ONE_IN) == 0:
            return "I do not know."
        return json.loads(task["answer"])


def _is_doable(task: sqlite3.Row) -> bool:
    return task["made"] is None or not KINDS[task["kind"]].for_people
