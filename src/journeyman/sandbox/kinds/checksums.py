"""Checksums of texts.

CRC-32 (IEEE 802.3) and Adler-32 (RFC 1950) are computed here bit by bit and byte
by byte; the digests come from hashlib, which no hand-written copy would better.
"""

import hashlib
from collections.abc import Callable
from random import Random

from journeyman.sandbox.kinds import kind
from journeyman.sandbox.material import Material

_CRC_POLYNOMIAL = 0xEDB88320
_CRC_MASK = 0xFFFFFFFF
_ADLER_MODULUS = 65521


def _crc32(data: bytes) -> str:
    register = _CRC_MASK
    for byte in data:
        register ^= byte
        for _bit in range(8):
            carry = register & 1
            register = (register >> 1) ^ (_CRC_POLYNOMIAL if carry else 0)
    return f"{register ^ _CRC_MASK:08x}"


def _adler32(data: bytes) -> str:
    low, high = 1, 0
    for byte in data:
        low = (low + byte) % _ADLER_MODULUS
        high = (high + low) % _ADLER_MODULUS
    return f"{high << 16 | low:08x}"


def _digest(name: str) -> Callable[[bytes], str]:
    return lambda data: hashlib.new(name, data, usedforsecurity=False).hexdigest()


_ALGORITHMS: dict[str, Callable[[bytes], str]] = {
    "adler32": _adler32,
    "blake2b": _digest("blake2b"),
    "crc32": _crc32,
    "md5": _digest("md5"),
    "sha1": _digest("sha1"),
    "sha256": _digest("sha256"),
    "sha512": _digest("sha512"),
}


def _make_checksum(rng: Random, material: Material) -> kind.Draft:
    words = rng.choice(material.passages).words
    start = rng.randint(0, len(words) - 20)
    quoted = " ".join(words[start : start + rng.randint(10, 40)])
    text = f"{quoted} ({rng.choice(material.countries).capital})"
    algorithm = rng.choice(sorted(_ALGORITHMS))
    return kind.Draft(
        title=f"The {algorithm} of a text",
        description=(
            f"Give the {algorithm} checksum of the UTF-8 bytes of `text`, in "
            "lower-case hexadecimal; 8 digits for crc32 and adler32. Answer with a "
            "string."
        ),
        input={"text": text, "algorithm": algorithm},
        reward=2,
        answer=_ALGORITHMS[algorithm](text.encode()),
    )


def _check_checksum(
    task_input: kind.Fields, answer: kind.Answer, result: object
) -> None:
    value = kind.read_string(result)
    if value != answer:
        raise kind.WrongAnswerError(
            f"{value[:40]!r} is not the {task_input['algorithm']} of the text",
        )


KINDS = (kind.Kind("checksum", ("text", "checksum"), _make_checksum, _check_checksum),)
