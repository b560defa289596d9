"""How answers are written, where the contract does not show them.

The operations of the sandbox return one plain form. An `AnswerWriter` makes of it what
the options ask for; what is in a task's `input` is somebody's data and stays as it is.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from pydantic.alias_generators import to_camel, to_pascal

from journeyman.sandbox.options import Naming, SandboxOptions, StateWords
from journeyman.sandbox.tasks import TaskRecords

Answer = dict[str, Any]

_RELEVANT_OPTIONS = (
    "request_format",
    "listing_format",
    "naming",
    "record_format",
    "value_format",
    "empty_answers",
    "id_format",
    "id_name",
    "state_words",
)
_RECEIPTS = frozenset({"claim_id", "submission_id"})
_OWN = frozenset({"input", "result"})
"""What is in these is somebody's data, and stays as it is."""
_STATES = (
    *("open", "claimed", "submitted", "in_review", "completed", "rejected"),
    "expired",
)
_STATE_WORDS: Mapping[StateWords, tuple[str | int, ...]] = {
    "plain": _STATES,
    "unusual": (
        *("queued", "allotted", "handed_in", "with_jury", "wound_up", "spurned"),
        "lapsed",
    ),
    "german": (
        *("offen", "vergeben", "eingereicht"),
        *("in Pr\u00fcfung", "erledigt", "abgelehnt", "abgelaufen"),
    ),
    "codes": (10, 20, 30, 35, 40, 50, 60),
}
"""For the states, in the same order."""


def encoded(answer: object) -> bytes:
    """Write an answer as it is."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


class AnswerWriter:
    """Writes the answers of one sandbox."""

    def __init__(self, options: SandboxOptions) -> None:
        default = SandboxOptions()
        self._options = options
        self._is_plain = all(
            getattr(options, name) == getattr(default, name)
            for name in _RELEVANT_OPTIONS
        )
        camel = options.request_format == "camel"
        self._naming: Naming = options.naming or ("camel" if camel else "snake")
        words = _STATE_WORDS[options.state_words]
        self._words = dict(zip(_STATES, words, strict=True))
        self._is_wrapped = options.request_format == "wrapped"

    def listing(
        self, tasks: TaskRecords, page: Mapping[str, Any] = MappingProxyType({})
    ) -> bytes:
        """Write a list of tasks; `page` is what to show beside them."""
        if self._is_plain and not page:
            count = len(tasks.records)
            return encoded({"ok": True, "count": count, "tasks": tasks.records})
        ids = [task["id"] for task in tasks.records]
        records = [self._record(task) for task in tasks.records]
        page = {self._named(name): value for name, value in page.items()}
        listing = self._listing(ids, records, tasks.total, page)
        return encoded({self._named("data"): listing} if self._is_wrapped else listing)

    def action(self, answer: Answer) -> bytes:
        """Write the answer to an action (contract endpoints 7 to 10)."""
        if self._options.empty_answers:
            # What the next request has to repeat is said even so.
            answer = {k: v for k, v in answer.items() if k in _RECEIPTS}
        if self._is_plain:
            return encoded(answer)
        fields = dict(answer)
        task = fields.pop("task", None)
        renamed = self._renamed(self._with_own_names(self._converted(fields)))
        if task is not None:
            renamed[self._named("task")] = self._record(task)
        return encoded(self._wrapped(renamed))

    def agents(self, answer: Answer) -> bytes:
        """Write the directory, or a manifest."""
        if self._is_plain:
            return encoded(answer)
        return encoded(self._wrapped(self._renamed(answer)))

    def _wrapped(self, answer: Answer) -> Answer:
        if not self._is_wrapped or not answer:
            return answer
        ok = self._named("ok")
        rest = {name: value for name, value in answer.items() if name != ok}
        return {ok: answer.get(ok, True), self._named("data"): rest}

    def _listing(
        self, ids: list[str], records: list[Answer], total: int, page: Answer
    ) -> Answer | list[Answer]:
        """Arrange the records of a listing."""
        fields: Answer
        match self._options.listing_format:
            case "bare":
                return records
            case "embedded":  # as in the Hypertext Application Language
                links = {"self": {"href": "/functions/v1/get-marketplace-tasks"}}
                embedded = {self._named("tasks"): records}
                return {"_links": links, "_embedded": embedded, **page}
            case "keyed":
                fields = {"tasks": self._keyed(ids, records)}
            case "tasks" | "data" | "items" | "results" as name:
                fields = {"ok": True, "count": len(records), name: records}
            case "nested":
                inside = {self._named("total"): total, self._named("tasks"): records}
                fields = {"success": True, "data": {**inside, **page}}
                page = {}
            case "edges":
                connection = self._connection(ids, records, page)
                page = {}
                fields = {"data": {self._named("marketplace_tasks"): connection}}
            case "paged":  # a page of an endless list, with another list beside it
                order = {"property": "created_at", "ascending": True}
                sort = [{self._named(name): value for name, value in order.items()}]
                fields = {"total_elements": total, "sort": sort, "content": records}
                page = page or {self._named("page_number"): 0}
        return {**{self._named(name): fields[name] for name in fields}, **page}

    def _keyed(self, ids: list[str], records: list[Answer]) -> Answer:
        """Return records under their ids, without the ids in them, as in Firebase."""
        left_out = {"id", self._named(self._options.id_name)}
        return {
            task_id: {k: v for k, v in record.items() if k not in left_out}
            for task_id, record in zip(ids, records, strict=True)
        }

    def _connection(
        self, ids: list[str], records: list[Answer], shown: Answer
    ) -> Answer:
        """Arrange records as a GraphQL connection."""
        named = self._named
        edges = [
            {named("cursor"): task_id, named("node"): record}
            for task_id, record in zip(ids, records, strict=True)
        ]
        page = shown or {named("has_next_page"): False}
        return {named("edges"): edges, named("page_info"): page}

    def _record(self, task: Answer) -> Answer:
        fields = self._with_own_names(self._converted(task))
        match self._options.record_format:
            case "plain":
                return dict(self._renamed(fields))
            case "graphql":
                return {"__typename": "Task", **self._renamed(fields)}
            case "attributes":  # a JSON:API resource, which fixes the outer names
                task_id = fields.pop("id")
                attributes = self._renamed(fields)
                return {"type": "tasks", "id": task_id, "attributes": attributes}

    def _with_own_names(self, fields: Answer) -> Answer:
        """Call a task's id as the options do."""
        name = self._options.id_name
        if self._options.record_format == "attributes":
            return fields  # there, the outer name is fixed
        own = {"id": name, "task_id": name if name in ("job_id", "pk") else "task_id"}
        return {own.get(key, key): value for key, value in fields.items()}

    def _converted(self, fields: Answer) -> Answer:
        """Write the values in another way."""
        convert: dict[str, Callable[[Any], Any]] = {"status": self._words.__getitem__}
        if self._options.id_format == "integer":
            convert |= dict.fromkeys(("id", "task_id"), _number)
        match self._options.value_format:
            case "texts":
                convert |= {
                    "reward": lambda amount: f"{amount} credits",
                    "credits_earned": lambda amount: f"{amount} credits",
                    "tags": ", ".join,
                }
            case "numbers":
                convert["created_at"] = _milliseconds
            case "objects":
                convert |= {
                    "reward": lambda amount: {"amount": amount, "unit": "credits"},
                    "poster": lambda agent_id: {"id": agent_id},
                    "tags": lambda tags: [{"name": tag} for tag in tags],
                }
            case "plain":
                pass
        return {
            name: convert[name](value) if name in convert else value
            for name, value in fields.items()
        }

    def _named(self, name: str) -> str:
        """Spell a name, which is in snake_case."""
        match self._naming:
            case "snake":
                return name
            case "camel":
                return to_camel(name)
            case "pascal":
                return to_pascal(name)
            case "kebab":
                return name.replace("_", "-")

    def _renamed(self, value: Any) -> Any:  # noqa: ANN401 - a JSON value in and out
        if isinstance(value, list):
            return [self._renamed(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            self._named(name): inner if name in _OWN else self._renamed(inner)
            for name, inner in value.items()
        }


def _number(task_id: str) -> int | str:
    """Return an id as a number; or as it is, from before integers were chosen."""
    return int(task_id) if task_id.isdecimal() else task_id


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
