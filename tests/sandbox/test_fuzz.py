"""The sandbox's OpenAPI, fuzzed for a moment, and requests that no client sends.

`make contract-matrix` fuzzes at length, in all request_formats.
"""

import anyio
import pytest
from tests.contract_matrix.fuzzing import fuzz, sandbox_to_fuzz

from journeyman.sandbox import SandboxOptions, serving

pytestmark = pytest.mark.endurance

EXAMPLES = 3
CLAIM = "/functions/v1/claim-task-public"
LIST = "/functions/v1/get-marketplace-tasks"


def test_no_request_that_its_description_leads_to_makes_it_fail() -> None:
    options = {"request_format": "wrapped", "strict": True, "error_format": "zod"}
    with sandbox_to_fuzz(kinds=("word_count",), **options) as target:
        statuses = fuzz(target, EXAMPLES, [])
        ledger = target.ledger()

    assert {200, 400, 401} <= statuses.keys()
    assert ledger["balanced"]


def raw(line: str, *headers: str, body: str = "") -> bytes:
    """Write a request as it is, however wrong."""
    host_and_more = "".join(f"{header}\r\n" for header in ("Host: x", *headers))
    return f"{line} HTTP/1.1\r\n{host_and_more}\r\n{body}".encode("latin-1")


TYPE = "Content-Type: application/json"
TWO = "Content-Length: 2"
ODD_KEY = "Idempotency-Key: \xff\xfe"
ODD_REQUESTS = [
    raw(f"GET {LIST}?limit={'9' * 5000}"),
    raw(f"GET {LIST}?limit=1&limit=2&&=&%zz=%ff"),
    raw(f"GET {LIST}", "Authorization: Bearer \xff\xfe"),
    raw(f"GET {LIST}", f"Authorization: {'Bearer ' * 999}"),
    raw("GET /functions/v1/agents-directory?slug=%00%ff%ed%a0%80"),
    raw(f"GET /.well-known/{'a/../' * 999}agent.json"),
    raw("GET /.well-known/../../etc/passwd"),
    raw("GET //checkout/%2e%2e%2f%00"),
    raw("GET /checkout/%ed%a0%80/pay"),
    raw("POST /checkout/%ff/pay", "Content-Length: 0"),
    raw("OPTIONS *"),
    raw(f"TRACE {CLAIM}"),
    raw(f"POST {CLAIM}", "Content-Length: -1"),
    raw(f"POST {CLAIM}", TWO, TYPE, "Content-Type: text/plain", body="{}"),
    raw(f"POST {CLAIM}", TWO, f"{TYPE}; charset=\xff", ODD_KEY, body="{}"),
    raw(f"POST {CLAIM}", TWO, TYPE, "Content-Encoding: gzip", body="{}"),
    raw(
        "POST /functions/v1/create-free-agent-public",
        "Transfer-Encoding: chunked",
        TYPE,
        ODD_KEY,
        body="2\r\n{}\r\n0\r\n\r\n",
    ),
]


async def test_no_odd_request_makes_it_fail() -> None:
    statuses = []
    async with serving(SandboxOptions(tasks=1)) as base_url:
        port = int(base_url.rpartition(":")[2])
        for request in ODD_REQUESTS:
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                await stream.send(request)
                with anyio.fail_after(60):
                    statuses.append(int((await stream.receive()).split(b" ")[1]))

    told = list(zip(statuses, ODD_REQUESTS, strict=True))
    assert all(status < 500 for status in statuses), told
