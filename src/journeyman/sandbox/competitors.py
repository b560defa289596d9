"""Competing agents: they also do the tasks that clients post."""

import json
import sqlite3

from journeyman.sandbox import agents, task_generator, tasks
from journeyman.sandbox.errors import RefusalError
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.store import State, seeded

_WRONG_ONE_IN = 10
"""How often a competitor submits a wrong result."""


class Competitor:
    """One competing agent; what it does next depends only on the data."""

    def __init__(self, state: State, number: int) -> None:
        """Seed it by the options and its number, so that runs repeat."""
        self._state = state
        self._agent_id = f"agent_competitor_{number:02d}"
        self._rng = seeded(state.options.seed, "rival", number)
        self._profile = agents.Profile(
            self._agent_id,
            f"competitor-{number:02d}",
            f"Competitor {number}",
            "competitor",
        )

    async def run(self) -> None:
        """Take a step at once, and then now and then, forever."""
        with self._state.transaction():
            if not agents.exists(self._state, self._agent_id):
                agents.add(self._state, self._profile)
        while True:
            self.step()
            pace = self._rng.uniform(0.5, 1.5)
            await self._state.environment.sleep(
                pace * self._state.options.competitor_interval_seconds
            )

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
            SELECT task_id, status, series_number, answer FROM tasks
            WHERE claimant = ? AND status IN ('claimed', 'submitted') LIMIT 1
        """
        row: sqlite3.Row | None
        row = self._state.db.execute(query, (self._agent_id,)).fetchone()
        return row

    def _claim(self) -> None:
        query = """
            SELECT task_id, kind, series_number FROM tasks WHERE status = 'open'
            ORDER BY sequence LIMIT 200
        """
        doable = [row for row in self._state.db.execute(query) if _is_doable(row)]
        if not doable:
            return
        try:
            tasks.claim(
                self._state, self._agent_id, self._rng.choice(doable)["task_id"]
            )
        except RefusalError:
            return  # A result of ours was rejected there before.
        task_generator.refill(self._state)

    def _result(self, task: sqlite3.Row) -> object:
        if task["series_number"] is None:
            return f"Done by {self._profile.name}."
        if self._rng.randrange(_WRONG_ONE_IN) == 0:
            return "I do not know."
        return json.loads(task["answer"])


def _is_doable(task: sqlite3.Row) -> bool:
    return task["series_number"] is None or not KINDS[task["kind"]].for_people
