"""Data that JSON carries in another form is read as what it says."""

import pytest

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.plain import plain

PARAGRAPHS = [
    {"type": "paragraph", "content": [{"type": "text", "text": one}]}
    for one in ("first", "second")
]


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        # Values with their types.
        ({"id": {"$oid": "5f"}, "pay": {"N": "5"}}, {"id": "5f", "pay": "5"}),
        ({"fee": {"$numberDecimal": "12"}}, {"fee": "12"}),
        ({"x": {"type": "Integer", "value": 5, "valueInfo": {}}}, {"x": 5}),
        ({"x": {"id": "%3A", "type": "number", "number": 5}}, {"x": 5}),
        (
            {"call": {"id": "c-1", "type": "function", "function": {"name": "upper"}}},
            {"call": {"id": "c-1", "name": "upper"}},
        ),
        # A record that has a type and a value among others
        (
            {"result": {"id": 7, "job": 3, "type": "text", "value": "A", "round": 1}},
            {"result": {"id": 7, "job": 3, "type": "text", "value": "A", "round": 1}},
        ),
        ({"who": {"type": "people", "people": []}}, {"who": None}),
        # Lists of names and values.
        (
            {"f": [{"name": "a", "value": 1}, {"name": "b", "value": 2}]},
            {"f": {"a": 1, "b": 2}},
        ),
        (
            {"f": [{"url": "https://x.example/sd/reward", "valueInteger": 5}]},
            {"f": {"reward": 5}},
        ),
        (
            {"f": [{"type": {"text": "text"}, "valueString": "tea"}]},
            {"f": {"text": "tea"}},
        ),
        ({"link": [{"rel": ["next"], "href": "/2"}]}, {"link": {"next": "/2"}}),
        # XML.
        (
            {
                "order": {
                    "$": {"id": "7"},
                    "title": ["tea"],
                    "fee": [{"_": "5", "$": {"unit": "cr"}}],
                }
            },
            {"order": {"id": "7", "title": "tea", "fee": {"unit": "cr", "value": "5"}}},
        ),
        # Fields that are lists of items.
        (
            {
                "nid": [{"value": 7}],
                "type": [{"target_id": "gig", "target_type": "node"}],
                "brief": [{"value": "a", "format": "plain"}],
                "tags": [{"value": "x"}, {"value": "y"}],
                "path": [{"alias": None}],
            },
            {
                "nid": 7,
                "type": "gig",
                "brief": "a",
                "tags": [{"value": "x"}, {"value": "y"}],
                "path": [{"alias": None}],
            },
        ),
        # Tables by their columns.
        (
            {
                "id": {"0": 7, "4": 8},
                "text": {"0": "a", "4": None},
                "pay": {"0": 5, "4": 1.5},
            },
            {
                "0": {"id": 7, "text": "a", "pay": 5},
                "4": {"id": 8, "text": None, "pay": 1.5},
            },
        ),
        (
            {"id": [7, 8], "text": ["a", "b"], "done": [True, False]},
            [
                {"id": 7, "text": "a", "done": True},
                {"id": 8, "text": "b", "done": False},
            ],
        ),
        # Texts that are trees.
        (
            {"text": {"type": "doc", "version": 1, "content": PARAGRAPHS}},
            {"text": "first\nsecond"},
        ),
        (
            {
                "t": {
                    "type": "rich_text",
                    "rich_text": [{"type": "text", "plain_text": "tea"}],
                }
            },
            {"t": "tea"},
        ),
        # JSON in a text, which tells the pay that the record does not.
        (
            {"id": 7, "body": '{"work": {"text": "tea", "credits": 5}}'},
            {"id": 7, "body": {"work": {"text": "tea", "credits": 5}}},
        ),
        # What stands beside the records, and is referred to.
        (
            {
                "data": [
                    {"id": "7", "of": {"brief": {"data": {"type": "b", "id": "1"}}}}
                ],
                "included": [{"type": "b", "id": "1", "attributes": {"text": "tea"}}],
            },
            {
                "data": [
                    {
                        "id": "7",
                        "of": {
                            "brief": {
                                "type": "b",
                                "id": "1",
                                "attributes": {"text": "tea"},
                            }
                        },
                    }
                ]
            },
        ),
    ],
)
def test_another_form_is_undone(sent: JSON, read: JSON) -> None:
    assert plain(sent) == read


@pytest.mark.parametrize(
    "sent",
    [
        # Records under names of their own are no columns: each has several types.
        {
            "a": {"pay": 5, "text": "x"},
            "b": {"pay": 6, "text": "y"},
            "c": {"pay": 7, "text": "z"},
        },
        # Lists of one type may have the same length by chance.
        {"tags": ["a", "b"], "skills": ["c", "d"], "labels": ["e", "f"]},
        # These have ids of their own, so that they are records.
        {
            "tasks": [
                {"id": 1, "name": "a", "value": 5},
                {"id": 2, "name": "b", "value": 6},
            ]
        },
        {"tasks": [{"id": 1, "type": "text", "text": "tea"}]},
        {"id": 1, "type": "text", "text": "tea"},
        # What stands beside the value would be lost.
        {"answer": {"type": "task", "task": {"id": 1}, "balance": 95}},
        {"reward": {"type": "credits", "value": 5}},
        {"list": [{"name": "a", "value": 1}, {"name": "a", "value": 2}]},
        {"order": [{"type": "note", "text": "tea", "id": "7"}]},
        # JSON to work on.
        {"id": 7, "reward": 5, "text": '{"price": 3}'},
        {"id": 7, "text": '{"name": "tea"}'},
        [],
        {},
        None,
    ],
)
def test_plain_data_stays_as_it_is(sent: JSON) -> None:
    assert plain(sent) == sent
