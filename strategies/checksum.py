"""Checksums with the standard library: a function, a table, and one refusal."""

import hashlib
import zlib

from journeyman import Decline, Example, Result, strategy

DIGESTS = {"md5", "sha1", "sha256", "sha512", "blake2b"}
SUMS = {"crc32": zlib.crc32, "adler32": zlib.adler32}
MAX_CHARACTERS = 1_000_000


@strategy(
    version="1.0.0",
    kinds={"checksum"},
    tags={"text", "checksum"},
    inputs={"text": str, "algorithm": str},
    examples=[
        Example(
            {"kind": "checksum", "input": {"text": text, "algorithm": algorithm}},
            expect=expected,
        )
        for text, algorithm, expected in [
            ("abc", "md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("abc", "crc32", "352441c2"),
            ("", "adler32", "00000001"),
            ("abc", "sha3_of_my_own", Decline),
        ]
    ],
)
def checksum(text: str, algorithm: str) -> Result:
    """Return the checksum of a text's UTF-8 bytes in lower-case hexadecimal."""
    if len(text) > MAX_CHARACTERS:
        raise Decline("the text is too long", characters=len(text))
    try:
        data = text.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise Decline("the text is not valid UTF-8") from error
    if algorithm in SUMS:
        output = f"{SUMS[algorithm](data):08x}"
    elif algorithm in DIGESTS:
        output = hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()
    else:
        raise Decline("unknown algorithm", algorithm=algorithm[:50])
    return Result(output, evidence={"bytes": len(data)})
