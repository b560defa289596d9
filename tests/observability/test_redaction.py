"""Secrets do not come out: neither known ones nor such as look like one."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.observability.redaction import SHORTEST_SECRET, Redactor

#: What a bearer token may be made of (RFC 6750, section 2.1), and some more.
SECRETS = st.text(
    'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=%" \\é',
    min_size=8,
    max_size=40,
    # White space does not count: a shorter secret is not looked for.
).filter(lambda secret: len("".join(secret.split())) >= SHORTEST_SECRET)
TEXTS = st.text(max_size=20)


def _wrapped(secret: str) -> st.SearchStrategy[object]:
    """Any nested structure that has the secret somewhere inside."""
    leaf = st.tuples(TEXTS, TEXTS).map(lambda ends: ends[0] + secret + ends[1])
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(st.one_of(inner, st.integers(), st.none()), max_size=4),
            st.dictionaries(st.one_of(leaf, TEXTS), inner, max_size=4),
            st.tuples(inner, TEXTS),
            inner.map(ValueError),
        ),
        max_leaves=8,
    )


@given(secret=SECRETS, data=st.data())
def test_a_secret_in_any_nested_structure_never_comes_out(
    secret: str,
    data: st.DataObject,
) -> None:
    redactor = Redactor()
    redactor.add(secret)

    cleaned = redactor.clean_record({"value": data.draw(_wrapped(secret))})

    assert secret not in "\0".join(_texts(cleaned))


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [
            text for pair in value.items() for part in pair for text in _texts(part)
        ]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [str(value)]


@given(secret=SECRETS, before=st.binary(max_size=9), after=st.binary(max_size=9))
def test_a_secret_inside_base64_never_comes_out(
    secret: str,
    before: bytes,
    after: bytes,
) -> None:
    redactor = Redactor()
    redactor.add(secret)

    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + secret.encode() + after).decode()
        assert "***" in redactor.clean(encoded)


@given(SECRETS)
def test_a_secret_that_was_encoded_for_an_address_or_for_json_never_comes_out(
    secret: str,
) -> None:
    redactor = Redactor()
    redactor.add(secret)

    for encode in (quote, quote_plus, json.dumps, repr, lambda text: quote(text, "")):
        encoded = encode(secret)
        assert encoded not in redactor.clean(f"<{encoded}>")


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("Bearer abc.DEF-1~+/=", "Bearer ***", id="bearer"),
        pytest.param(
            "Authorization: Bearer abc",
            "Authorization: *** ***",
            id="bearer-header",
        ),
        pytest.param(
            "authorization: Basic dXNlcjpwYXNz",
            "authorization: Basic ***",
            id="basic-header",
        ),
        pytest.param("got eyJhbGciOi.eyJzdWIi.c2ln!", "got ***!", id="jwt"),
        pytest.param("?access_token=abc&x=1", "?access_token=***&x=1", id="query"),
        pytest.param(
            '{"access_token": "a b", "credits": 100}',
            '{"access_token": "***", "credits": 100}',
            id="json",
        ),
        pytest.param(
            r"{\"accessToken\": \"ab\", \"x\": 1}",
            r"{\"accessToken\": \"***\", \"x\": 1}",
            id="json-inside-json",
        ),
        pytest.param("{'api_key': 'ab'}", "{'api_key': '***'}", id="python"),
        pytest.param(
            '{"access_token": "cut off in the mid',
            '{"access_token": "***',
            id="cut-off",
        ),
        pytest.param(
            "http://me:pw@host/x", "http://***@host/x", id="user-and-password"
        ),
        pytest.param("passwd=x", "passwd=***", id="password"),
        pytest.param("Set-Cookie: sid=1", "Set-Cookie: ***", id="cookie"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, cleaned: str) -> None:
    assert Redactor().clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "Count the words of this text.",
        "5 tokens were found; the key is under the mat",
        "https://network.example/functions/v1/claim-task-public?limit=50",
        "the bearer",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor().clean(text) == text


def test_a_field_that_is_named_like_a_secret_is_hidden_whatever_it_holds() -> None:
    cleaned = Redactor().clean_record({"token": "abc", "x": {"Password": "d"}, "n": 1})

    assert cleaned == {"token": "***", "x": {"Password": "***"}, "n": 1}


def test_a_secret_that_is_a_number_is_hidden_as_a_number_too() -> None:
    redactor = Redactor()
    redactor.add("12345678")

    assert redactor.clean_record({"n": [12345678, 5, True]}) == {"n": ["***", 5, True]}


def test_a_short_secret_does_not_tear_holes_into_words() -> None:
    redactor = Redactor()
    redactor.add("the")

    assert redactor.clean("the other") == "the other"
