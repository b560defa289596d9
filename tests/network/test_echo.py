"""A network that repeats our token tells it to nobody."""

from base64 import b64encode
from urllib.parse import quote

import pytest

from journeyman.network.call import Reply
from journeyman.network.exchange import without_secrets
from journeyman.network.json_text import parse
from journeyman.observability.redaction import KnownSecrets

TOKEN = "0123456789abcdef" * 4 + "/+"


def reply(text: str, **headers: str) -> Reply:
    return Reply(200, headers, parse(text) if text[0] in "[{" else None, text)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"error": "bad token {TOKEN}"}}',
        f'{{"{TOKEN}": 1}}',
        f'{{"tasks": [{{"id": "{TOKEN}", "tags": ["{TOKEN}"]}}]}}',
        f'{{"title": "{TOKEN[:20]}\\n{TOKEN[20:]}"}}',
        f'{{"title": "\\u0030{TOKEN[1:]}"}}',
        f'{{"url": "https://elsewhere.invalid/?t={quote(TOKEN, safe="")}"}}',
        f'{{"blob": "{b64encode(TOKEN.encode()).decode()}"}}',
        f"<title>{TOKEN}</title>",
        f"{TOKEN[:30]}\r\n   {TOKEN[30:]}",
    ],
)
def test_a_token_in_an_answer_is_hidden_wherever_it_stands(text: str) -> None:
    hidden = without_secrets(reply(text), KnownSecrets(TOKEN))

    told = "".join(f"{hidden.text} {hidden.body}".split()).replace("\\n", "")
    assert "***" in told
    assert TOKEN not in told
    assert quote(TOKEN, safe="") not in told


def test_a_token_in_a_header_is_hidden() -> None:
    hidden = without_secrets(
        reply("{}", **{"x-echo": f"Bearer {TOKEN}"}), KnownSecrets(TOKEN)
    )

    assert hidden.headers == {"x-echo": "Bearer ***"}


def test_an_answer_without_it_is_handed_on_as_it_is() -> None:
    plain = reply('{"tasks": [{"id": "t1", "text": "\\u00e9 0123456789abcdef"}]}')

    assert without_secrets(plain, KnownSecrets(TOKEN)) == plain
    assert without_secrets(plain, KnownSecrets()) is plain
