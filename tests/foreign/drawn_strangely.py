"""Networks drawn at random that are stranger than those of `drawn`.

Nothing that somebody has read of networks helps here: what is meant can only be found by
what stands where, what differs, and what a trial shows.
"""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from tests.foreign.backend import Request
from tests.foreign.drawn import (
    FIRST,
    PLACED,
    Drawn,
    Fault,
    Field,
    Packer,
    Refused,
    Wording,
    cased,
)

NO_WORDS_BARE = {
    "nonsense": Wording("vlork spab", "mimsy tove", "wabe {t}", "gyre {o}"),
    "codes": Wording("E17", "E18", "E19", "E20 {o}"),
    "numbers": Wording("1001", "1002", "1003", "1004 {o}"),
}
NO_WORDS_WHOLE = {
    "sentence": Wording(
        "vlork {n} spab", "mimsy {n} tove", "{n} wabe {t}", "{n} gyre {o}"
    ),
    "colon": Wording(
        "{p}: borogove", "{p}: outgrabe", "{p}: rath {t}", "{p}: frumious {o}"
    ),
    "quotes": Wording(
        "Slithy '{p}' toves.",
        "Brillig '{p}' raths.",
        "Mome '{p}' {t}.",
        "Uffish '{p}' {o}.",
    ),
}
"""Wordings in no language: names, types and values stand in them, and no other word."""
NO_WORDS_PLACED: dict[str, Packer] = {
    "pairs": lambda told: {"zub": [{"florp": f.way, "snark": s} for f, s in told]},
    "top pairs": lambda told: [{"florp": f.way, "snark": s} for f, s in told],
    "ways": lambda told: {"zub": [{"florp": [*f.path], "snark": s} for f, s in told]},
    "texts by name": lambda told: {"zub": {f.way: s for f, s in told}},
    "lists by name": lambda told: {"zub": 7, "glim": {f.way: [s] for f, s in told}},
    "tuples": lambda told: {"zub": [[f.way, s] for f, s in told]},
    **PLACED,
}
"""Forms under keys that nobody knows, besides those of frameworks."""


class DrawnWithoutWords(Drawn):
    """A network that refuses in no language that anybody knows."""

    bare = NO_WORDS_BARE
    whole = NO_WORDS_WHOLE
    placed = NO_WORDS_PLACED


FINNISH = dict(
    pair.split("=")
    for pair in [
        "task=tehtava",
        "job=urakka",
        "gig=keikka",
        "bounty=palkkiojahti",
        "quest=retki",
        "ticket=lippu",
        "order=tilaus",
        "assignment=toimeksianto",
        "mission=komennus",
        "work=tyo",
        "item=kohde",
        "listing=ilmoitus",
        "errand=asia",
        "text=teksti",
        "input=syote",
        "content=sisalto",
        "body=runko",
        "source=lahde",
        "phrase=lause",
        "prompt=kehote",
        "payload=kuorma",
        "data=tieto",
        "result=tulos",
        "output=tuotos",
        "answer=vastaus",
        "response=vaste",
        "solution=ratkaisu",
        "deliverable=suorite",
        "submission=toimitus",
        "claim=varaus",
        "lease=vuokra",
        "reservation=paikka",
        "lock=lukko",
        "delivery=lahetys",
        "attempt=yritys",
        "agent=tekija",
        "worker=tyolainen",
        "claimed=varannut",
        "by=kuka",
        "user=kayttaja",
        "reward=palkkio",
        "credits=pisteet",
        "price=hinta",
        "payout=maksu",
        "pay=liksa",
        "title=otsikko",
        "name=nimi",
        "subject=aihe",
        "summary=tiivistelma",
        "headline=paaotsikko",
        "instructions=ohje",
        "description=kuvaus",
        "details=lisatiedot",
        "brief=ohjeistus",
        "todo=tekemista",
        "status=tila",
        "ref=viite",
        "notes=huomiot",
        "format=muoto",
        "confirmed=vahvistettu",
        "completion=valmistuminen",
        "created=luotu",
        "at=aika",
        "message=viesti",
        "eta=arvio",
        "minutes=minuutit",
        "accept=hyvaksy",
        "terms=ehdot",
        "confidence=varmuus",
        "metadata=metatieto",
        "type=tyyppi",
        "expires=paattyy",
        "request=pyynto",
        "attributes=maareet",
    ]
)
"""Words of names; whether they are good Finnish matters to nobody."""


class DrawnInFinnish(Drawn):
    """A network whose names are in a language that the daemon has no word of."""

    def write(self, name: str) -> str:
        return cased(_in_finnish(name), self.case)

    def show(self, name: str) -> str:
        return cased(_in_finnish(name), self.listing_case)


def _in_finnish(name: str) -> str:
    return "_".join(FINNISH.get(word, word) for word in name.split("_"))


class DrawnStrangely(DrawnInFinnish, DrawnWithoutWords):
    """A network that is both."""


RICHES = (
    *("text in claim", "list of ids", "offer", "moment", "version"),
    *("by id", "groups", "columns"),
)
"""What a network may have besides."""
FORMS = ("", "tagged", "texts", "items", "files")
"""In which a result may be wanted."""
ITEM_NAMES = ("text", "content", "value", "answer", "body")


class DrawnRichly(Drawn):
    """A network whose bodies and listings have lists, tags, offers, moments, versions."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        chance = Random(f"riches {seed}")  # noqa: S311 - repeatable on purpose
        self.riches = {one for one in RICHES if chance.random() < 0.2}
        self.item_name = chance.choice(ITEM_NAMES)
        self.riches.add(chance.choice(FORMS))
        self.style += f" with {', '.join(sorted(self.riches))}"
        if "text in claim" in self.riches:
            self.claim_gives = "task"
            self.needs_claim = "no"
        if len(self.result_path) == 1:
            self.result_path = (*self.result_path, *self._inside_of_result())

    def _inside_of_result(self) -> tuple[str, ...]:
        name = self.write(self.item_name)
        if "texts" in self.riches:
            return (FIRST,)
        if self.riches & {"items", "files"}:
            return (FIRST, name)
        return (name,) if "tagged" in self.riches else ()

    def _inner_fields(self, action: str) -> Iterator[Field]:
        for one in super()._inner_fields(action):
            is_id = one.path == self.task_path and len(one.path) == 1
            if is_id and action == "claim" and "list of ids" in self.riches:
                yield replace(one, path=self._ids_path)
            else:
                yield one
        *above, _ = (*self.result_path,)
        if action == "submit" and above and self.riches & {"files", "tagged"}:
            is_tag = "files" not in self.riches and self.wording.option
            if "files" in self.riches:
                yield Field((*above, self.write("name")), "string")
            elif is_tag:
                yield Field((*above, "type"), "string", options=("url", "text"))
        if action == "claim" and "offer" in self.riches:
            yield Field((self.write("offer"),), "integer")
        if action == "complete" and "moment" in self.riches:
            yield Field((self.write("completed_at"),), "datetime")
        if action == "submit" and self._has_version:
            yield Field((self.write("version"),), "integer")

    @property
    def _has_version(self) -> bool:
        return "version" in self.riches and self.claim_gives == "id"

    @property
    def _ids_path(self) -> tuple[str, ...]:
        (name,) = self.task_path
        return (f"{name}s", FIRST)

    def _record(self, row: dict[str, Any]) -> dict[str, Any]:
        made = super()._record(row)
        if "text in claim" in self.riches and not row["state"]:
            inside = made.get("attributes", made)
            inside.pop(self.show(self.text_name.partition(".")[0]))
        return made

    def _listing(self, request: Request) -> Any:
        self.agent(request)
        shown = [row for row in self.rows.values() if row["state"] == 0]
        rows = [self._record(row) for row in shown]
        many = self.show(f"{self.noun}s")
        if "by id" in self.riches:
            return {many: {str(a["id"]): b for a, b in zip(shown, rows, strict=True)}}
        if "groups" in self.riches and rows:
            half = len(rows) // 2
            groups = [
                {"name": "north", many: rows[:half]},
                {"name": "south", many: rows[half:]},
            ]
            return {"areas": groups}
        if "columns" in self.riches and rows and "attributes" not in self.habits:
            names = [*rows[0]]
            return {"columns": names, "rows": [[one[n] for n in names] for one in rows]}
        return super()._listing(request)

    def at(self, body: Any, action: str, path: tuple[str, ...]) -> Any:
        is_id = path == self.task_path and len(path) == 1
        if is_id and action == "claim" and "list of ids" in self.riches:
            path = self._ids_path
        return super().at(body, action, path)

    def _claimed(self, row: dict[str, Any], key: str) -> Any:
        made = super()._claimed(row, key)
        return {**made, "version": 3 + row["reward"]} if self._has_version else made

    def _submit(self, request: Request) -> Any:
        body = self.check(request, "submit")
        row = self._meant(body, "submit")
        version = (self.write("version"),)
        sent = self.at(body, "submit", version)
        if self._has_version and sent != 3 + row["reward"]:
            fault = Fault((*self._around("submit"), *version), "reference", value=sent)
            raise Refused(409, self.pack([(fault, self.wording.say(fault))]))
        return super()._submit(request)
