"""Descriptions in YAML: what is read, and what could harm us and is not."""

import pytest

from journeyman.network.service_model.yaml_text import (
    LARGEST,
    MOST_ALIASES,
    UnreadableYAMLError,
    parse_yaml,
)

DESCRIPTION = """
openapi: 3.1.0
info: {title: Jobs, version: 2024-01-02}
paths:
  /claim-task-public:
    post:
      responses: {200: &fine {description: on}, 201: *fine}
"""


def test_a_description_is_what_json_would_say() -> None:
    assert parse_yaml(DESCRIPTION) == {
        "openapi": "3.1.0",
        "info": {"title": "Jobs", "version": "2024-01-02"},
        "paths": {
            "/claim-task-public": {
                "post": {
                    "responses": {
                        "200": {"description": "on"},
                        "201": {"description": "on"},
                    }
                }
            }
        },
    }


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "not YAML"),
        ("a: 1\na: 2", "not YAML"),
        ("!!python/object/apply:os.system [true]", "not YAML"),
        ("a: !!binary aGVsbG8=", "a bytes"),
        ("a: .nan", "not finite"),
        ("&a [*a]", "too deep"),
        ("[" * 2_000 + "]" * 2_000, "nested deeper"),
        (LAUGHS, "too large"),
        (MERGES, "merge keys"),
        ("a: &a 1\nb: [" + "*a , " * (MOST_ALIASES + 1) + "]", "aliases"),
        (" " * LARGEST + "a: 1", "KiB"),
    ],
)
def test_what_could_harm_is_refused(text: str, told: str) -> None:
    with pytest.raises(UnreadableYAMLError, match=told):
        parse_yaml(text)
