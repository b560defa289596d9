"""JSONPath queries with a library: bounding somebody else's engine."""

import json
import re
from itertools import islice
from typing import Any

from journeyman import Decline, Example, Result, Strategy, Task, param

LONGEST_PATH = 1_000  # characters
DEEPEST = 50  # levels of nesting

STORE = {"books": [{"title": "Emma", "price": 8}, {"title": "Dune", "price": 12}]}


def depth(value: object) -> int:
    """Count the levels of nesting."""
    inside = value.values() if isinstance(value, dict) else value
    is_nested = isinstance(value, dict | list)
    return 1 + max(map(depth, inside), default=0) if is_nested else 0


class JsonPath(Strategy):
    """Answers JSONPath queries (RFC 9535) over a document."""

    api, version = 1, "1.0.0"
    timeout = 20
    kinds = {"json_path"}
    tags = {"data", "json", "extract"}
    inputs = {"document": object, "path": str}
    examples = [
        Example(
            {"kind": "json_path", "input": {"document": STORE, "path": path}},
            expect=expected,
        )
        for path, expected in [
            ("$.books[*].title", ["Emma", "Dune"]),
            ("$.books[?@.price > 10].title", ["Dune"]),
            ("$..missing", []),
            ("$.books[", Decline),
        ]
    ]

    max_characters: int = param(100_000, ge=1, help="decline larger documents")
    max_values: int = param(10_000, ge=1, help="decline what finds more")

    def input_problem(self, task: Task) -> str:
        """Skip paths that could take forever: nested descents, and patterns."""
        if problem := super().input_problem(task):
            return problem
        path = task.input["path"]
        if path.count("..") > 1 or re.search(r"(match|search)\s*\(", path):
            return "the path may take forever to follow"
        return ""

    def run(self, document: Any, path: str) -> Result:  # noqa: ANN401 - any JSON
        """Return the values that the path finds, in order."""
        # Here, because it takes as long to import as all other strategies together.
        import jsonpath  # noqa: PLC0415 - as it says

        if not isinstance(document, dict | list) or len(path) > LONGEST_PATH:
            raise Decline("there is no document, or the path is too long")
        try:
            size = len(json.dumps(document, allow_nan=False))
            if size > self.max_characters or depth(document) > DEEPEST:
                raise Decline("the document is too large", characters=size)
            matches = jsonpath.finditer(path, document, strict=True)
            values = [match.obj for match in islice(matches, self.max_values + 1)]
        except (jsonpath.JSONPathError, RecursionError, ValueError) as error:
            raise Decline("the path cannot be followed", path=path[:80]) from error
        found = len(json.dumps(values))
        if len(values) > self.max_values or found > self.max_characters:
            raise Decline("the path finds too much", values=len(values))
        return Result(values, evidence={"standard": "RFC 9535"})
