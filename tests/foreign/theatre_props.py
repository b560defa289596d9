"""A theatre's props labels; the interface was made by the props master.

tasks: {"production", "props": [{"prop", "act", "kept_in", "label_text", "pay", "status"}]}
claim: {"props": ["skull"]} (a list: one sheet may sign out several) ->
    {"sheet": 12, "signed_out": [{...}]}
submit: {"sheet": 12, "labels": [{"prop": "skull", "label": "..."}]} -> {"sheet", "labelled"}
complete: {"sheet": 12} -> {"sheet", "returned": [...], "pay": n}; needs all its labels.
Refusals: {"note": sentence, "about": name of the field}.
"""

import secrets
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response


@dataclass
class Prop:
    """Something on the props table."""

    prop: str
    act: str
    kept_in: str
    label_text: str
    pay: int
    status: str = "needs label"


@dataclass
class Sheet:
    """A sign-out sheet."""

    number: int
    token: str
    props: list[Prop]
    labelled: set[str] = field(default_factory=set)
    closed: bool = False


class TheatreProps(Backend):
    """The props master's table."""

    def __init__(self) -> None:
        super().__init__()
        self.hands: dict[str, int] = {}
        self.sheets: dict[int, Sheet] = {}
        rows = [
            (
                "skull",
                "Act five",
                "left table",
                "the skull of the old court jester",
                11,
            ),
            ("goblet", "Act five", "left table", "poisoned cup for the queen only", 9),
            (
                "foils",
                "Act five",
                "sword rack",
                "two blunt foils and one sharp one",
                14,
            ),
            (
                "letters",
                "Act one",
                "right table",
                "letters from the king to england",
                8,
            ),
            (
                "lantern",
                "Act one",
                "shelf four",
                "lantern for the watch on the wall",
                10,
            ),
            (
                "flowers",
                "Act four",
                "cold box",
                "rosemary and pansies tied with string",
                12,
            ),
        ]
        self.table = {row[0]: Prop(*row) for row in rows}
        self.table["crown"] = Prop(
            "crown", "Act one", "safe", "crown of denmark", 6, "done"
        )

    def texts(self) -> dict[str, str]:
        """Return what can be earned."""
        return {
            key: one.label_text for key, one in self.table.items() if key != "crown"
        }

    def note(self, status: int, note: str, about: str) -> Response:
        """Leave a note."""
        return Response(status, {"note": note, "about": about})

    def read(self, request: Request) -> Response | dict[str, Any]:
        """Read what was brought to the table."""
        if request.token not in self.hands:
            return self.note(401, "Stage hands only, show your token.", "Authorization")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self.note(400, "Bring a JSON object.", "body")
        return body

    def shown(self, one: Prop) -> dict[str, Any]:
        """Describe a prop."""
        return {
            "prop": one.prop,
            "act": one.act,
            "kept_in": one.kept_in,
            "label_text": one.label_text,
            "label_style": "CAPITALS, so that it can be read in the dark",
            "pay": one.pay,
            "status": one.status,
        }

    def register(self, request: Request) -> Response:
        """Take on a stage hand."""
        self.book.registrations += 1
        token = secrets.token_hex(8)
        self.hands[token] = 100
        return Response(
            200,
            {
                "agent_id": f"hand-{len(self.hands)}",
                "access_token": token,
                "credits": 100,
            },
        )

    def marketplace(self, request: Request) -> Response:
        """Show the table."""
        props = [self.shown(one) for one in self.table.values()]
        return Response(200, {"production": "Hamlet", "props": props})

    def tasks(self, request: Request) -> Response:
        """Show the table to a stage hand."""
        if request.token not in self.hands:
            return self.note(401, "Stage hands only, show your token.", "Authorization")
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Sign props out on a sheet."""
        body = self.read(request)
        if isinstance(body, Response):
            return body
        names = body.get("props")
        if names is None:
            return self.note(400, "Which props? Give props.", "props")
        if not isinstance(names, list):
            return self.note(
                400, "props must be a list, even for a single prop.", "props"
            )
        if not names:
            return self.note(400, "props is an empty list.", "props")
        for name in names:
            if not isinstance(name, str):
                return self.note(
                    400, "Each of props must be the name of a prop.", "props"
                )
            if name not in self.table:
                return self.note(404, f"There is no prop called {name}.", "props")
        wanted = [self.table[name] for name in dict.fromkeys(names)]
        for sheet in self.sheets.values():
            if sheet.token == request.token and sheet.props == wanted:
                return Response(200, self.sheet_shown(sheet))
        for one in wanted:
            if one.status != "needs label":
                return self.note(409, f"{one.prop} is {one.status} already.", "props")
        sheet = Sheet(12 + len(self.sheets), request.token, wanted)
        self.sheets[sheet.number] = sheet
        for one in wanted:
            one.status = "signed out"
            self.book.claimed(one.prop)
        return Response(200, self.sheet_shown(sheet))

    def sheet_shown(self, sheet: Sheet) -> dict[str, Any]:
        """Describe a sheet."""
        return {
            "sheet": sheet.number,
            "signed_out": [self.shown(one) for one in sheet.props],
        }

    def find(self, request: Request, body: dict[str, Any]) -> Sheet | Response:
        """Find a stage hand's sheet."""
        number = body.get("sheet")
        if number is None:
            return self.note(
                400, "Which sheet? Give the number of your sheet.", "sheet"
            )
        for sheet in self.sheets.values():
            if str(sheet.number) == str(number) and sheet.token == request.token:
                return sheet
        return self.note(404, f"You signed nothing out on sheet {number}.", "sheet")

    def submit(self, request: Request) -> Response:
        """Take labels."""
        body = self.read(request)
        if isinstance(body, Response):
            return body
        sheet = self.find(request, body)
        if isinstance(sheet, Response):
            return sheet
        labels = body.get("labels")
        if labels is None:
            return self.note(400, "Where are the labels? Give labels.", "labels")
        if not isinstance(labels, list) or not labels:
            return self.note(
                400, "labels must be a list, each with a prop and its label.", "labels"
            )
        done: list[str] = []
        for label in labels:
            if (
                not isinstance(label, dict)
                or not label.get("prop")
                or not label.get("label")
            ):
                return self.note(
                    400, "Each of labels needs a prop and a label.", "labels"
                )
            one = next((p for p in sheet.props if p.prop == label["prop"]), None)
            if one is None:
                return self.note(
                    404, f"{label['prop']} is not on this sheet.", "labels"
                )
            if label["label"] != one.label_text.upper():
                return self.note(
                    422,
                    f"The label for {one.prop} is not its text in capitals.",
                    "labels",
                )
            done.append(one.prop)
        for name in done:
            sheet.labelled.add(name)
            if not sheet.closed:
                self.table[name].status = "labelled"
        return Response(
            200, {"sheet": sheet.number, "labelled": sorted(sheet.labelled)}
        )

    def complete(self, request: Request) -> Response:
        """Close the sheet and pay for it."""
        body = self.read(request)
        if isinstance(body, Response):
            return body
        sheet = self.find(request, body)
        if isinstance(sheet, Response):
            return sheet
        without = [one.prop for one in sheet.props if one.prop not in sheet.labelled]
        if without:
            return self.note(
                409, "Still without a label: " + ", ".join(without), "sheet"
            )
        if not sheet.closed:
            sheet.closed = True
            for one in sheet.props:
                one.status = "done"
                self.hands[request.token] += one.pay
                self.book.pay(one.prop, one.pay)
        return Response(
            200,
            {
                "sheet": sheet.number,
                "returned": [one.prop for one in sheet.props],
                "pay": sum(one.pay for one in sheet.props),
                "credits": self.hands[request.token],
            },
        )
