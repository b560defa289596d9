"""Faults of an answer: it says something else, too much, or nothing."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import httpx2 as httpx

from journeyman.simulation.exchange import BOM, FIRST_ERROR, JSON_TYPE, Answer
from journeyman.simulation.faults.making import plain, serve
from journeyman.simulation.wire import Wire

DRIP_SECONDS = 4.0
"""Between two bytes: within the patience for one, beyond that for all."""
HUGE_PIECES, HUGE_PIECE = 26, bytes(1024 * 1024)
BOMB_BYTES = 20 * 1024 * 1024
HTML = ((b"content-type", b"text/html"),)


async def truncated(wire: Wire) -> httpx.Response:
    """The answer ends in the middle."""
    answer = await serve(wire)
    return wire.response(replace(answer, body=answer.body[: len(answer.body) // 2]))


async def garbage_200(wire: Wire) -> httpx.Response:
    """All was done, and the answer is no text at all."""
    await serve(wire)
    return plain(wire, 200, b"\x00\xff{garbage\xfe")


async def byte_order_mark(wire: Wire) -> httpx.Response:
    """The answer begins with a byte-order mark."""
    answer = await serve(wire)
    return wire.response(replace(answer, body=BOM + answer.body))


async def empty_200(wire: Wire) -> httpx.Response:
    """All was done, and the answer is empty."""
    await serve(wire)
    return plain(wire, 200, b"")


async def no_content_204(wire: Wire) -> httpx.Response:
    """All was done, and there is nothing to say about it."""
    answer = await serve(wire)
    return wire.response(answer if _says_no(answer) else Answer(status=204))


async def doubled_headers(wire: Wire) -> httpx.Response:
    """Each header of the answer comes twice."""
    answer = await serve(wire)
    return wire.response(replace(answer, headers=answer.headers * 2))


async def odd_names(wire: Wire) -> httpx.Response:
    """All was done, and the answer calls everything by other names."""
    return _retold(wire, await serve(wire), _renamed)


async def odd_types(wire: Wire) -> httpx.Response:
    """All was done, and no value of the answer has the type that it had."""
    return _retold(wire, await serve(wire), _retyped)


async def html_200(wire: Wire) -> httpx.Response:
    """A page of something between, with a status that says yes."""
    return wire.response(
        Answer(status=200, headers=HTML, body=b"<html><body>Sign in</body></html>"),
    )


async def deep_json(wire: Wire) -> httpx.Response:
    """An answer nested a hundred thousand levels deep."""
    return plain(wire, 200, b"[" * 100_000)


async def not_a_number(wire: Wire) -> httpx.Response:
    """All was done, and the answer holds numbers that are none."""
    await serve(wire)
    return plain(wire, 200, b'{"credits": NaN, "balance": 1e999}')


async def slow_drip(wire: Wire) -> httpx.Response:
    """All was done, and the answer comes byte by byte."""
    answer = await serve(wire)
    drops = [(DRIP_SECONDS, bytes([byte])) for byte in answer.body[:100]]
    return wire.response(answer, drops)


async def huge_body(wire: Wire) -> httpx.Response:
    """An answer of 26 MB."""
    pieces = [(0.01, HUGE_PIECE)] * HUGE_PIECES
    return wire.response(Answer(status=200, headers=JSON_TYPE), pieces)


async def gzip_bomb(wire: Wire) -> httpx.Response:
    """A small answer that would unpack to 20 MB."""
    headers = (*JSON_TYPE, (b"content-encoding", b"gzip"))
    return wire.response(Answer(status=200, headers=headers, body=_bomb()))


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(BOMB_BYTES), mtime=0)


def _retold(wire: Wire, answer: Answer, retell: Callable[[Any], Any]) -> httpx.Response:
    if _says_no(answer):
        return wire.response(answer)
    content = retell(json.loads(answer.body))
    return wire.response(replace(answer, body=json.dumps(content).encode()))


def _says_no(answer: Answer) -> bool:
    """Tell whether it refuses, or finds a result wrong.

    Nobody could know that from other words, and no network would hide it in them.
    """
    if answer.status >= FIRST_ERROR:
        return True
    return json.loads(answer.body.removeprefix(BOM)).get("accepted") is False


def _renamed(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {f"x_{name}": _renamed(inner) for name, inner in value.items()}
    return [_renamed(inner) for inner in value] if isinstance(value, list) else value


def _retyped(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: _retyped(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_retyped(inner) for inner in value]
    if isinstance(value, str):
        return [value]
    return None if isinstance(value, bool) else str(value)
