"""A choir's programme notes; the interface was made by the choir's librarian.

tasks: {"season", "pieces": [{"piece_no", "composer", "title", "note", "thanks", "is"}]}
claim: {"piece_no": 3, "voice": "alto"} -> {"piece_no", "taken_by_voice", "note", ...}
submit: {"piece_no": 3, "set_note": "..."} -> {"piece_no", "is": "set"}
complete: {"piece_no": 3, "sign_off": your name} -> {"is": "printed", "thanks": n, ...}
Refusals: 422 {"message": sentence}, one thing at a time.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

VOICES = ("soprano", "alto", "tenor", "bass")


@dataclass
class Piece:
    """A piece in the programme."""

    piece_no: int
    composer: str
    title: str
    note: str
    thanks: int
    state: str = "open"
    singer: str = ""
    voice: str = ""


class ChoirNotes(Backend):
    """The librarian's cupboard."""

    def __init__(self) -> None:
        super().__init__()
        self.singers: dict[str, int] = {}
        self.pieces: dict[int, Piece] = {}
        for number, (composer, title, note, thanks) in enumerate(
            [
                (
                    "Byrd",
                    "Ave verum corpus",
                    "written for singing behind closed doors",
                    9,
                ),
                ("Purcell", "Hear my prayer", "eight voices rise to a single cry", 12),
                ("Brahms", "Waldesnacht", "a quiet walk into the evening forest", 10),
                (
                    "Stanford",
                    "The blue bird",
                    "the soprano floats above a still lake",
                    14,
                ),
                ("Bruckner", "Locus iste", "sung at the blessing of a chapel", 8),
                (
                    "Holst",
                    "Nunc dimittis",
                    "it was lost for sixty years and found again",
                    15,
                ),
            ],
            start=1,
        ):
            self.pieces[number] = Piece(number, composer, title, note, thanks)

    def texts(self) -> dict[str, str]:
        """Return what can be earned."""
        return {str(key): one.note for key, one in self.pieces.items()}

    def no(self, message: str, status: int = 422) -> Response:
        """Say one thing."""
        return Response(status, {"message": message})

    def slip(self, request: Request) -> Response | dict[str, Any]:
        """Read a slip of paper."""
        if request.token not in self.singers:
            return self.no("You are not on the list of singers, bring your token.", 401)
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self.no("The slip is not JSON.", 400)
        return body

    def piece(self, slip: dict[str, Any]) -> Piece | Response:
        """Find the piece on a slip."""
        number = slip.get("piece_no")
        if number is None:
            return self.no("The slip has no piece_no.")
        if not isinstance(number, int) or isinstance(number, bool):
            return self.no("piece_no must be a whole number.")
        piece = self.pieces.get(number)
        if piece is None:
            return self.no(f"There is no piece_no {number} this season.", 404)
        return piece

    def line(self, piece: Piece) -> dict[str, Any]:
        """Describe a piece."""
        return {
            "piece_no": piece.piece_no,
            "composer": piece.composer,
            "title": piece.title,
            "note": piece.note,
            "thanks": piece.thanks,
            "is": piece.state,
        }

    def register(self, request: Request) -> Response:
        """Put a singer on the list."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(12)
        self.singers[token] = 100
        return Response(
            200,
            {
                "agent_id": f"singer{len(self.singers)}",
                "access_token": token,
                "credits": 100,
            },
        )

    def marketplace(self, request: Request) -> Response:
        """Show the programme."""
        return Response(
            200,
            {
                "season": "Winter concert in the town church",
                "from_the_librarian": "The printer sets every note in capitals. Take a piece, "
                "set its note and sign it off. Thanks are in credits.",
                "pieces": [self.line(one) for one in self.pieces.values()],
            },
        )

    def tasks(self, request: Request) -> Response:
        """Show the programme to a singer."""
        if request.token not in self.singers:
            return self.no("You are not on the list of singers, bring your token.", 401)
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Give a piece to a singer."""
        slip = self.slip(request)
        if isinstance(slip, Response):
            return slip
        piece = self.piece(slip)
        if isinstance(piece, Response):
            return piece
        voice = slip.get("voice")
        if voice is None:
            return self.no("The slip has no voice.")
        if voice not in VOICES:
            return self.no("voice must be one of soprano, alto, tenor, bass.")
        if piece.singer and piece.singer != request.token:
            return self.no("Another singer has taken this piece.", 409)
        if not piece.singer:
            piece.singer, piece.voice, piece.state = request.token, voice, "taken"
            self.book.claimed(str(piece.piece_no))
        return Response(200, {**self.line(piece), "taken_by_voice": piece.voice})

    def submit(self, request: Request) -> Response:
        """Take the note as set."""
        slip = self.slip(request)
        if isinstance(slip, Response):
            return slip
        piece = self.piece(slip)
        if isinstance(piece, Response):
            return piece
        if piece.singer != request.token:
            return self.no("You have not taken this piece.", 409)
        text = slip.get("set_note")
        if text is None or text == "":
            return self.no("The slip has no set_note.")
        if not isinstance(text, str):
            return self.no("set_note must be plain words.")
        if text != piece.note.upper():
            return self.no("set_note is not the note in capitals.")
        if piece.state == "taken":
            piece.state = "set"
        return Response(200, {"piece_no": piece.piece_no, "is": piece.state})

    def complete(self, request: Request) -> Response:
        """Sign off and give thanks."""
        slip = self.slip(request)
        if isinstance(slip, Response):
            return slip
        piece = self.piece(slip)
        if isinstance(piece, Response):
            return piece
        if piece.singer != request.token:
            return self.no("You have not taken this piece.", 409)
        name = slip.get("sign_off")
        if not isinstance(name, str) or not name.strip():
            return self.no("The slip has no sign_off, write the name of who signs.")
        if piece.state == "taken":
            return self.no("The note of this piece has not been set.", 409)
        if piece.state == "set":
            piece.state = "printed"
            self.singers[request.token] += piece.thanks
            self.book.pay(str(piece.piece_no), piece.thanks)
        return Response(
            200,
            {
                "piece_no": piece.piece_no,
                "is": piece.state,
                "thanks": piece.thanks,
                "credits": self.singers[request.token],
            },
        )
