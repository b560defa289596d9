"""Čtenářský klub: a Czech university's reading club, a small Flask application."""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BOOKS = {  # number: (title, excerpt, credits, lent to somebody)
    1: ("Povídky malostranské", "the lamp went out in the narrow street", 7, False),
    2: ("Babička", "grandmother came on a saturday in may", 9, False),
    3: ("Máj", "late evening, the first of may", 5, True),
    4: ("R.U.R.", "the factory stands on an island", 11, False),
    5: ("Krysař", "a stranger with a flute stood at the gate", 6, False),
}


class Reading(Backend):
    """A flat array of excerpts; one can be borrowed at a time.

    claim {excerpt: number} borrows; submit {excerpt, reading} (the excerpt in capitals)
    pays at once (kredity); complete {excerpt, note} (a line for the club's diary,
    at least 5 characters) returns it to the shelf so that another can be borrowed.
    Refusals: {"chyba": one sentence}, one fault at a time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.readers: dict[str, dict[str, Any]] = {}
        self.shelf: dict[int, dict[str, Any]] = {
            k: {
                "reader": "someone" if lent else None,
                "state": "lent" if lent else "on the shelf",
            }
            for k, (_, _, _, lent) in BOOKS.items()
        }
        self.diary: list[str] = []

    def texts(self) -> dict[str, str]:
        return {str(k): v[1] for k, v in BOOKS.items() if not v[3]}

    # -- answers -------------------------------------------------------------
    def chyba(self, status: int, sentence: str) -> Response:
        return Response(status, {"chyba": sentence})

    def missing(self, request: Request) -> Response:
        return Response(
            404,
            "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
            "<p>The requested URL was not found on the server.</p>\n",
            {"Content-Type": "text/html; charset=utf-8"},
        )

    def document(self, request: Request) -> Response:
        if request.path == "/llms.txt":
            return Response(
                200,
                "# Čtenářský klub\n\nBorrow an excerpt by its number, read it aloud (send it back as `reading`, "
                "in capital letters),\nthen return it with a short note for our diary. One excerpt at a time, please.\n"
                "Kredity are yours as soon as the reading is accepted.\n",
            )
        return self.missing(request)

    def row(self, key: int) -> dict[str, Any]:
        title, text, credits_, _ = BOOKS[key]
        return {
            "excerpt": key,
            "kniha": title,
            "text": text,
            "kredity": credits_,
            "state": self.shelf[key]["state"],
        }

    def enter(self, r: Request) -> tuple[Any, Any, Response | None]:
        reader = self.readers.get(r.token)
        if reader is None:
            return (
                None,
                None,
                self.chyba(
                    401,
                    "I don't know you. Send the access token as Authorization: Bearer.",
                ),
            )
        try:
            body = r.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return None, None, self.chyba(400, "Please send a JSON object.")
        if "excerpt" not in body:
            return (
                None,
                None,
                self.chyba(400, "Which excerpt? Send its number as 'excerpt'."),
            )
        key = body["excerpt"]
        if isinstance(key, str) and key.isdigit():
            key = body["excerpt"] = int(key)
        if not isinstance(key, int) or isinstance(key, bool):
            return None, None, self.chyba(400, "'excerpt' is a number, see the list.")
        if key not in BOOKS:
            return None, None, self.chyba(404, f"We have no excerpt {key}.")
        return reader, body, None

    # -- actions -------------------------------------------------------------
    def register(self, r: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(12)
        self.readers[token] = {"id": f"ctenar{self.book.registrations}", "kredity": 100}
        return Response(
            200,
            {
                "agent_id": self.readers[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def tasks(self, r: Request) -> Response:
        rows = [self.row(k) for k in BOOKS]
        limit = r.query.get("limit", "")
        return Response(200, rows[: int(limit)] if limit.isdigit() else rows)

    def marketplace(self, r: Request) -> Response:
        return Response(
            200,
            [self.row(k) for k in BOOKS if self.shelf[k]["state"] == "on the shelf"],
        )

    def agents(self, r: Request) -> Response:
        return Response(
            200,
            [
                {"reader": x["id"], "kredity": x["kredity"]}
                for x in self.readers.values()
            ],
        )

    def claim(self, r: Request) -> Response:
        reader, body, no = self.enter(r)
        if no:
            return no
        key = body["excerpt"]
        slot = self.shelf[key]
        if slot["reader"] is reader and slot["state"] in ("lent", "read"):
            return Response(200, self.row(key))  # borrowed it before
        if slot["state"] != "on the shelf":
            return self.chyba(
                409, f"Excerpt {key} is {slot['state']}, pick another one."
            )
        for other, s in self.shelf.items():
            if s["reader"] is reader and s["state"] in ("lent", "read"):
                return self.chyba(
                    409,
                    f"You still have excerpt {other}. Finish it and return it (complete) first, one at a time.",
                )
        slot.update(reader=reader, state="lent")
        self.book.claimed(str(key))
        return Response(
            200,
            {
                **self.row(key),
                "message": "Read it aloud: send back the text in capital letters as 'reading'.",
            },
        )

    def submit(self, r: Request) -> Response:
        reader, body, no = self.enter(r)
        if no:
            return no
        key = body["excerpt"]
        slot = self.shelf[key]
        if slot["reader"] is not reader:
            return self.chyba(403, f"You have not borrowed excerpt {key}.")
        reading = body.get("reading")
        if reading is None or reading == "":
            return self.chyba(400, "There is no 'reading' in your message.")
        if not isinstance(reading, str):
            return self.chyba(400, "'reading' should be a text.")
        if slot["state"] != "lent":
            return Response(
                200,
                {
                    **self.row(key),
                    "message": "We have your reading already, thank you.",
                    "your_kredity": reader["kredity"],
                },
            )
        if reading != BOOKS[key][1].upper():
            return self.chyba(
                422, "That is not the excerpt in capital letters. Try again."
            )
        slot["state"] = "read"
        reader["kredity"] += BOOKS[key][2]
        self.book.pay(str(key), BOOKS[key][2])
        return Response(
            200,
            {
                **self.row(key),
                "message": f"Děkujeme! You earned {BOOKS[key][2]} kredity.",
                "earned": BOOKS[key][2],
                "your_kredity": reader["kredity"],
            },
        )

    def complete(self, r: Request) -> Response:
        reader, body, no = self.enter(r)
        if no:
            return no
        key = body["excerpt"]
        slot = self.shelf[key]
        if slot["reader"] is not reader:
            return self.chyba(403, f"You have not borrowed excerpt {key}.")
        if slot["state"] == "returned":
            return Response(200, {**self.row(key), "message": "Already returned."})
        if slot["state"] == "lent":
            return self.chyba(409, "You have not sent a reading yet.")
        note = body.get("note")
        if not note:
            return self.chyba(400, "Please leave a 'note' for the club's diary.")
        if not isinstance(note, str) or len(note) < 5:
            return self.chyba(
                400, "The 'note' should be a text of at least 5 characters."
            )
        self.diary.append(note)
        slot["state"] = "returned"
        return Response(
            200,
            {
                **self.row(key),
                "message": "Returned, you may borrow another one.",
                "your_kredity": reader["kredity"],
            },
        )
