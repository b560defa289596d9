"""A secret is found and hidden in every spelling, and in spellings of spellings."""

import io
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from random import Random
from urllib.parse import quote, quote_plus

import pytest
from tests.every import whole_only

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.domain.text import HIDDEN
from journeyman.economy.events import POST_REFUSED_BY_BUDGET
from journeyman.network.call import Reply
from journeyman.network.exchange import without_secrets
from journeyman.observability.logging import build_log
from journeyman.observability.redaction import KnownSecrets, Redactor
from journeyman.strategies.running.leaks import LeakScan

TOKEN = "q8Zr-2Lx.T0v_B7nK~4mWs+1Y/90eGhJ=pXc"  # noqa: S105 - nobody's
Spelling = Callable[[Random, str], str]


def in_base64(random: Random, text: str) -> str:
    encode = random.choice((b64encode, urlsafe_b64encode))
    whole = "x" * random.randrange(6) + text + "y" * random.randrange(6)
    encoded = encode(whole.encode()).decode()
    return random.choice((encoded, encoded.rstrip("=")))


def in_hex(random: Random, text: str) -> str:
    digits = text.encode().hex()
    return random.choice((digits, digits.upper()))


def in_an_address(random: Random, text: str) -> str:
    whole = "".join(f"%{byte:02X}" for byte in text.encode())
    spelled = random.choice((quote(text), quote(text, safe=""), whole))
    return random.choice((spelled, quote_plus(text), whole.lower()))


def in_html(random: Random, text: str) -> str:
    form = random.choice(("&#{};", "&#x{:x};", "&#x{:04X};"))
    entities = _partly(random, text, lambda char: form.format(ord(char)), always="&")
    return random.choice((escape(text), entities))


def in_json(random: Random, text: str) -> str:
    form = random.choice(("\\u{:04x}", "\\u{:04X}", "\\u{{{:x}}}"))
    quoted = json.dumps(text, ensure_ascii=random.random() < 0.5)[1:-1]
    escaped = _partly(random, text, lambda char: form.format(ord(char)), always="\\")
    return random.choice((quoted, escaped))


def in_full_width(random: Random, text: str) -> str:
    wide = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
    return _partly(random, text, lambda char: wide.get(char, char))


def with_invisible_letters(random: Random, text: str) -> str:
    letter = random.choice("\u200b\u200c\u200d\u2060\ufeff\xad\u202e")
    return _partly(random, text, lambda char: f"{letter}{char}")


def with_white_space(random: Random, text: str) -> str:
    gap = random.choice((" ", "\n", "\r\n   ", "\t", "\xa0", "\u3000"))
    return _partly(random, text, lambda char: f"{gap}{char}")


def _partly(
    random: Random, text: str, spell: Callable[[str], str], always: str = ""
) -> str:
    """Spell all letters, or only some; `always` those that would begin an escape."""
    share = random.choice((0.1, 0.3, 1.0))
    return "".join(
        spell(char) if char in always or random.random() < share else char
        for char in text
    )


SPELLINGS: tuple[Spelling, ...] = (
    in_base64,
    in_hex,
    in_an_address,
    in_html,
    in_json,
    in_full_width,
    with_invisible_letters,
    with_white_space,
)
AROUND = (
    ("", ""),
    ("bad token: ", "."),
    ('{"you sent": "', '", "code": 4}'),
    ("<p>Not allowed (", ")</p>"),
    ("https://elsewhere.invalid/?x=1&t=", "&y=2"),
    ("Zeichen: \u00bb", "\u00ab"),
)
MOST_LAYERS = 4


def composed(random: Random) -> tuple[list[str], str]:
    """Return the token in some spellings on top of each other, and their names."""
    layers = random.choices(SPELLINGS, k=random.randint(1, MOST_LAYERS))
    text = TOKEN
    for spell in layers:
        text = spell(random, text)
    return [spell.__name__ for spell in layers], text


class Doors:
    """Everything through which a text of a network may leave the daemon."""

    def __init__(self) -> None:
        self.redactor = Redactor()
        self.redactor.add(TOKEN)
        self.known = KnownSecrets(TOKEN)
        self.scan = LeakScan(self.redactor.knows)
        self.stream = io.StringIO()
        self.log = build_log(
            stream=self.stream,
            format="json",
            level="debug",
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            secrets=self.redactor,
        )

    def logged(self, text: str) -> str:
        self.stream.seek(0)
        self.stream.truncate()
        self.log.emit(POST_REFUSED_BY_BUDGET, message=text)
        return str(json.loads(self.stream.getvalue())["message"])

    def answered(self, text: str) -> str:
        """Return what the journal, errors, `--json`, exports and the tape get to see.

        All of them know an answer of the network only as this returns it.
        """
        reply = without_secrets(Reply(400, {}, [text], json.dumps([text])), self.known)
        assert isinstance(reply.body, list)
        return str(reply.body[0])

    def recorded(self, text: str) -> str:
        """Return what the tape keeps of a task that says so."""
        page = ['["one before"]', json.dumps([text]), '["and one after"]']
        return str(json.loads(self.redactor.clean_json_texts(page)[1])[0])

    def is_stopped(self, text: str) -> bool:
        """Return whether a result that says so is kept from leaving."""
        return self.scan.find(Result(text), Task(id=TaskId("t1")), "") is not None


def try_many(seed: int, times: int) -> None:
    random = Random(seed)  # noqa: S311 - it has to repeat
    doors = Doors()
    for _ in range(times):
        names, spelled = composed(random)
        before, after = random.choice(AROUND)
        text = before + spelled + after
        for told in doors.logged(text), doors.answered(text), doors.recorded(text):
            assert HIDDEN in told, f"{names}: {text}"
            assert len(told) <= len(text) - len(TOKEN) + len(HIDDEN), names
        assert doors.is_stopped(text), f"{names}: {text}"


@pytest.mark.endurance
def test_a_token_in_any_spelling_of_any_spelling_leaves_through_no_door() -> None:
    try_many(seed=1, times=1_000)


@pytest.mark.endurance
@pytest.mark.timeout(900)
@whole_only
def test_ten_thousand_more_spellings_leave_through_no_door() -> None:
    try_many(seed=2, times=10_000)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a %71%38Zr-2Lx.T0v_B7nK~4mWs%2B1Y/90eGhJ=pXc b", "a *** b"),
        (f"<p>{TOKEN[:9]}&#8203;{TOKEN[9:]}</p>", "<p>***</p>"),
        (f"first {TOKEN[:5]}\n {TOKEN[5:]}, then {TOKEN}!", "first ***, then ***!"),
        (f"hex {TOKEN.encode().hex()}.", "hex ***."),
        (f"x {b64encode(TOKEN.encode()).decode()}.", "x ***."),
    ],
)
def test_what_stands_around_a_spelled_secret_stays(text: str, cleaned: str) -> None:
    known = KnownSecrets(TOKEN)

    assert known.hide(text) == cleaned


def test_a_text_with_too_many_readings_hides_no_secret_beside_it() -> None:
    redactor, random = Redactor(), Random(3)  # noqa: S311 - it has to repeat
    redactor.add(TOKEN)
    hostile = "".join(random.choices("0123456789abcdef%&\\+", k=30_000))
    spelled = TOKEN.encode().hex().encode().hex().encode().hex()
    page = [json.dumps(hostile), json.dumps(f"x {spelled}."), '"and one after"']
    assert not redactor.knows("".join(page)), "one of them hides the other"

    cleaned = redactor.clean_json_texts(page)

    assert cleaned == [page[0], '"x ***."', page[2]]


def test_a_secret_is_found_in_what_was_read_before_it_was_learned() -> None:
    known, text = KnownSecrets("some other secret"), f"a token, {TOKEN}"
    assert known.hide(text) == text

    known.add(TOKEN)

    assert known.hide(text) == "a token, ***"
    assert known.hide(text) == "a token, ***"


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog " * 20,
        "0123456789abcdef" * 200,
        "ICAg" * 2_000,
        "%25" * 2_000 + "&amp;" * 2_000 + "\\\\" * 2_000,
        json.dumps({"text": "\u00e4\u4efb\u52a1 \U0001f600 & <b>100%</b>\n" * 50}),
    ],
)
def test_a_text_without_the_secret_stays_however_odd_it_is(text: str) -> None:
    redactor = Redactor()
    redactor.add(TOKEN)

    assert not redactor.knows(text)
    assert redactor.clean(text) == text
