"""The next page of a listing, in each of the ways in which networks show it."""

from itertools import chain

import pytest

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.listing import ListingReader
from journeyman.network.service_model.pages import PageRequest, Paging

PATH = "/functions/v1/get-marketplace-tasks"
TASKS: list[JSON] = [{"id": n, "text": f"task {n}", "reward": 1} for n in range(1, 4)]


def ways(
    around: dict[str, JSON], *, limit: int = 50, headers: dict[str, str] | None = None
) -> tuple[PageRequest, ...]:
    """Return how the page after the one with these fields is asked for."""
    paging = Paging(PATH, {"limit": str(limit)}, headers or {})
    return ListingReader().listing({"tasks": TASKS, **around}, paging).next


@pytest.mark.parametrize(
    "around",
    [
        {"next": f"http://market.example{PATH}?page=2&limit=3"},
        {"next_page_url": f"{PATH}?page=2&limit=3"},
        {"links": {"next": "?page=2&limit=3"}},
        {"_links": {"next": {"href": f"{PATH}?page=2&limit=3"}}},
        {
            "links": [
                {"rel": "prev", "href": "?page=0"},
                {"rel": "next", "href": "?page=2&limit=3"},
            ]
        },
        {"@odata.nextLink": f"http://market.example{PATH}?page=2&limit=3"},
    ],
)
def test_of_a_link_to_the_next_page_the_query_is_used(around: dict[str, JSON]) -> None:
    (way,) = ways(around)

    assert dict(way.query) == {"page": "2", "limit": "3"}
    assert not way.is_guess


def test_a_link_to_a_later_page_is_known_in_any_language() -> None:
    (way,) = ways(
        {
            "anterior": f"{PATH}?pagina=1",
            "ultima": f"{PATH}?pagina=9",
            "siguiente": f"{PATH}?pagina=2",
        }
    )

    assert dict(way.query) == {"pagina": "2"}


def test_an_offset_that_is_no_number_is_a_cursor() -> None:
    way, *_ = ways({"offset": "itr7/rec4"})

    assert dict(way.query) == {"offset": "itr7/rec4"}


def test_a_key_to_resume_with_is_a_cursor() -> None:
    way, *_ = ways({"MORE": "Y", "resumeKey": "26-004425"})

    assert dict(way.query) == {"resumeKey": "26-004425"}


def test_a_letter_tells_that_there_is_no_more() -> None:
    assert ways({"MORE": "N", "resumeKey": "26-004425"}) == ()


@pytest.mark.parametrize("name", ["pagina", "seite", "strona"])
def test_a_page_is_a_number_in_other_languages(name: str) -> None:
    way, *_ = ways({name: 1, "total": 30})

    assert dict(way.query) == {name: "2"}


def test_a_link_may_stand_in_a_header() -> None:
    header = f'<{PATH}?page=1>; rel="first", <{PATH}?offset=3&limit=3>; rel="next"'

    (way,) = ways({}, headers={"link": header})

    assert dict(way.query) == {"offset": "3", "limit": "3"}


@pytest.mark.parametrize(
    "address",
    ["https://elsewhere.example/collect?token=1", "/other?page=2", "http://[bad"],
)
def test_a_link_that_leads_elsewhere_is_not_followed(address: str) -> None:
    queries = [dict(way.query) for way in ways({"next": address})]

    assert {"token": "1"} not in queries
    assert {"page": "2"} not in queries


@pytest.mark.parametrize(
    ("around", "query"),
    [
        ({"nextCursor": "c3"}, {"cursor": "c3"}),
        ({"next_cursor": "c3"}, {"cursor": "c3"}),
        ({"meta": {"cursor": "c3"}}, {"cursor": "c3"}),
        ({"next_page_token": "c3"}, {"page_token": "c3"}),
        ({"nextPageToken": "c3"}, {"pageToken": "c3"}),
        ({"pageInfo": {"hasNextPage": True, "endCursor": "c3"}}, {"after": "c3"}),
        ({"LastEvaluatedKey": "c3"}, {"ExclusiveStartKey": "c3"}),
        ({"continuation": "c3"}, {"continuation": "c3"}),
        ({"nextMarker": "c3"}, {"marker": "c3"}),
        ({"page": 1, "totalPages": 3}, {"page": "2"}),
        ({"pageIndex": 0, "hasNext": True}, {"pageIndex": "1"}),
        ({"meta": {"current_page": 1, "last_page": 3}}, {"page": "2"}),
        ({"number": 0, "totalPages": 3, "last": False}, {"page": "1"}),
        ({"page": 1, "total": 7}, {"page": "2"}),
        ({"next_page": 2}, {"page": "2"}),
        ({"offset": 0, "limit": 3, "total": 7}, {"offset": "3"}),
        (
            {"data": {"data": {"jobs": {"info": {"next_cursor": "c3"}}}}},
            {"cursor": "c3"},
        ),
        ({"skip": 3, "count": 3, "total": 9}, {"skip": "6"}),
        (
            {
                "count": 7,
                "startKeyset": "a1",
                "endKeyset": "c3",
                "endsAt": "2025-01-01",
            },
            {"after": "c3"},
        ),
    ],
)
def test_a_cursor_or_a_number_is_sent_back_under_its_own_name_first(
    around: dict[str, JSON], query: dict[str, str]
) -> None:
    assert dict(ways(around)[0].query) == query


def test_an_offset_in_capitals_may_be_a_parameter_without_them() -> None:
    found = [dict(way.query) for way in ways({"Offset": 0, "Total": 7})]

    assert found == [{"Offset": "3"}, {"offset": "3"}]


def test_other_names_for_a_cursor_come_after_its_own() -> None:
    names = set(chain.from_iterable(way.query for way in ways({"nextCursor": "c3"})))

    assert {"cursor", "nextCursor", "after", "page_token", "pageToken"} <= names


@pytest.mark.parametrize(
    "around",
    [
        {},
        {"next": None},
        {"nextCursor": ""},
        {"has_more": False, "nextCursor": "c3"},
        {"pageInfo": {"hasNextPage": False, "endCursor": "c3"}},
        {"page": 3, "totalPages": 3},
        {"page": 1, "total": 3},
        {"number": 2, "totalPages": 3, "last": True},
        {"offset": 6, "limit": 3, "total": 9},
        {"count": 3},
        {"links": {"next": None, "prev": "?page=1"}},
    ],
)
def test_nothing_is_asked_for_after_the_last_page(around: dict[str, JSON]) -> None:
    assert ways(around) == ()


@pytest.mark.parametrize(
    ("around", "limit"), [({}, 3), ({"total": 7}, 50), ({"has_more": True}, 50)]
)
def test_where_there_is_more_and_no_way_is_shown_the_usual_ones_are_tried(
    around: dict[str, JSON], limit: int
) -> None:
    found = ways(around, limit=limit)

    assert [dict(way.query) for way in found][:2] == [{"offset": "3"}, {"page": "2"}]
    assert dict(found[-1].query) == {"limit": "1000"}
    assert all(way.is_guess for way in found)


def test_a_total_may_stand_in_an_object_and_a_smaller_one_counts_others() -> None:
    found = ways({"shards": {"total": 1}, "total": {"value": 14, "relation": "eq"}})

    assert {"from": "3"} in [dict(way.query) for way in found]


def test_fields_of_the_tasks_are_not_taken_for_those_of_the_page() -> None:
    tasks: JSON = {
        name: {"prompt": "a b", "reward": 1, "next": "?page=2", "cursor": "c"}
        for name in ("t-one", "t-two")
    }

    assert ListingReader().listing({"jobs": tasks}, Paging(PATH)).next == ()
