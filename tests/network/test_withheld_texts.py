"""A text that a listing keeps back is read from the answer to the claim."""

import pytest
from tests.network.conftest import NOW, ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, IdempotencyKey
from journeyman.network.client import NetworkClient
from journeyman.network.service_model.listing import ListingReader
from journeyman.network.service_model.request import words_for
from journeyman.worker.claim import as_claimed

KEY = IdempotencyKey("k-1")
TEXT = "The lamps of the quay are out."
BARE: JSON = {"no": 7, "department": "surgery", "credits": 9, "typist": None}
LOCKED: JSON = {"quest": "lamps", "hook": "Maren is in trouble.", "line": None}
TITLED: JSON = {"id": "t1", "occasion": "A card for twins", "credits": 9}
DESCRIBED: JSON = {"id": "t1", "description": "Write this in capitals.", "credits": 9}
NAMED: JSON = {"id": "t1", "title": "A sign", "status_text": "new", "status": "0"}
TOLD: JSON = {"id": "t1", "description": "Write this in capitals.", "line": None}


@pytest.mark.parametrize(
    ("listed", "body", "text"),
    [
        (BARE, {"status": "ok", "no": 7, "dictation": TEXT}, TEXT),
        (BARE, {"claim": {"id": 1}, "work": {"words": TEXT}}, TEXT),
        (BARE, {"message": "It is yours.", "dictation": TEXT}, TEXT),
        (LOCKED, {"run": {"id": 1}, "dialogue": {"by": "Maren", "line": TEXT}}, TEXT),
        (TITLED, {"claim": {"id": 7, "gig": {"id": "t1", "brief": TEXT}}}, TEXT),
        (TITLED, {"lease": {"id": 7}, "entry": {"source": {"body": TEXT}}}, TEXT),
        (TITLED, {"wording": TEXT, "instructions": "Return it in capitals."}, TEXT),
        (NAMED, {"job": {"id": "t1", "status_text": "is taken", "text": TEXT}}, TEXT),
        (DESCRIBED, {"id": 7, "text": TEXT}, TEXT),
        (DESCRIBED, {"notice_text": TEXT, "instruction": "In capital letters."}, TEXT),
        (TITLED, {"mission": {"texte": TEXT, "consigne": "En capitales."}}, TEXT),
        (TITLED, {"body": TEXT, "style": "all of it in capitals"}, TEXT),
        # What is shorter than what the listing tells is no text of it.
        (TITLED, {"greeting": "Well met!"}, ""),
        (DESCRIBED, {"criteria": "It must be in capital letters, all of it."}, ""),
        (
            {"id": 1, "subject": "A sign", "how": "Put the SOURCE in capitals."},
            {"notice": "It is entered now.", "SOURCE": TEXT},
            TEXT,
        ),
        (
            {"id": "let_7", "sheet": "SH 65 Yr Wyddfa", "brief": "Set it in capitals"},
            {
                "claim": {"id": "c1", "holder": "agent one"},
                "lettering": {
                    "id": "let_7",
                    "sheet": "SH 65 Yr Wyddfa",
                    "brief": "Set it in capitals",
                    "name": "Crib Goch",
                    "claimed_by": "agent one",
                },
            },
            "Crib Goch",
        ),
        # Which of two it is, nobody can say.
        (BARE, {"one": TEXT, "other": "Another text."}, ""),
        (BARE, {"message": "It is yours.", "note": "You have an hour."}, ""),
        (BARE, {"typist": "T-31", "until": "2027-01-02 03:04:05"}, ""),
        (LOCKED, {"run": {"id": 1}, "greeting": "Well met, friend!"}, ""),
        (TOLD, {"line": "Have a good time."}, ""),
    ],
)
async def test_what_a_listing_kept_back_is_told_by_the_claim(
    server: ScriptedServer,
    network: NetworkClient,
    listed: JSON,
    body: JSON,
    text: str,
) -> None:
    (task,) = ListingReader().listing({"tasks": [listed]}).tasks
    server.will(answer(200, body))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.text == text


async def test_what_names_the_task_is_a_message_about_it(
    server: ScriptedServer, network: NetworkClient
) -> None:
    listed: JSON = {"tasks": [{"id": "blue-heron", "words": "Sun.", "credits": 9}]}
    (task,) = ListingReader().listing(listed).tasks
    server.will(answer(200, {"yay": "blue-heron is yours for 10 minutes.", "no": 7}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert not outcome.value.text


async def test_what_is_said_of_each_task_by_its_name_is_no_work(
    server: ScriptedServer, network: NetworkClient
) -> None:
    tasks: JSON = [{"id": f"t{n}", "words": f"Sun {n}.", "credits": 9} for n in (1, 2)]
    first, second = ListingReader().listing({"tasks": tasks}).tasks
    said = "The lot {} is yours until noon."
    server.will(*(answer(200, {"yay": said.format(name)}) for name in ("t1", "t2")))

    await network.claim(first, KEY)
    outcome = await network.claim(second, IdempotencyKey("k-2"))

    assert isinstance(outcome, Confirmed)
    assert not outcome.value.text


async def test_a_description_that_all_tasks_have_alike_is_of_none(
    server: ScriptedServer, network: NetworkClient
) -> None:
    alike = "Set the entry in capital letters; it comes with the lease."
    records: JSON = [{"id": f"t{n}", "summary": alike, "bounty": 9} for n in range(3)]
    server.will(answer(200, {"tasks": records}), answer(200, {"entry": TEXT}))
    listing = await network.marketplace_tasks()
    assert isinstance(listing, Confirmed)

    outcome = await network.claim(listing.value.tasks[0], KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.text == TEXT


async def test_a_reward_that_only_the_claim_tells_is_that_of_the_task(
    server: ScriptedServer, network: NetworkClient
) -> None:
    (task,) = ListingReader().listing({"tasks": [{"id": 12, "title": "A cue"}]}).tasks
    told: JSON = {"id": 12, "title": "A cue", "payout": {"credits": 14}}
    server.will(answer(200, {"id": 900, "task": told}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).reward == 14


async def test_a_text_may_be_called_the_name_of_something(
    server: ScriptedServer, network: NetworkClient
) -> None:
    listed: JSON = {"tasks": [{"id": 12, "district": "Harbour", "credits": 9}]}
    (task,) = ListingReader().listing(listed).tasks
    place: JSON = {"id": 12, "agentName": "Ann", "nameOnSurvey": TEXT}
    server.will(answer(200, {"claimId": "c-1", "place": place}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.text == TEXT


async def test_what_we_said_ourselves_is_no_work_to_do(
    server: ScriptedServer, network: NetworkClient
) -> None:
    (task,) = ListingReader().listing({"tasks": [TITLED]}).tasks
    ours = words_for("claim", {})
    server.will(answer(200, {"docket": "D-1", "letterer": ours}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert not outcome.value.text


async def test_what_is_said_of_a_claim_is_no_text_beside_one_that_is_called_so(
    server: ScriptedServer, network: NetworkClient
) -> None:
    orders: JSON = [{"numero": n, "texto_original": f"{TEXT} {n}"} for n in range(3)]
    task = ListingReader().listing({"ordens": orders}).tasks[0]
    said = "Ordem de serviço nº 0 reservada para o artesão até amanhã, no máximo."
    server.will(answer(200, {"recado": said, "reserva": {"numero": 0}}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).text == f"{TEXT} 0"


async def test_a_text_that_is_listed_in_a_language_is_the_text_already(
    server: ScriptedServer, network: NetworkClient
) -> None:
    entries: JSON = [
        {"id": f"e{n}", "fields": {"sourceText": {"en-US": f"{TEXT} {n}"}}}
        for n in range(3)
    ]
    task = ListingReader().listing({"items": entries}).tasks[0]
    server.will(answer(200, {"id": "t-1", "body": "Set the text in capital letters"}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).text == f"{TEXT} 0"


async def test_what_is_said_of_one_claim_after_another_is_no_text(
    server: ScriptedServer, network: NetworkClient
) -> None:
    said = "Ordem reservada, e muito bom trabalho para todos os artesãos"
    orders: JSON = [{"numero": n, "inscricao": f"Text number {n}"} for n in range(3)]
    texts = []

    for task in ListingReader().listing({"ordens": orders}).tasks:
        server.will(answer(200, {"recado": said, "reserva": {"numero": task.id}}))
        outcome = await network.claim(task, KEY)
        assert isinstance(outcome, Confirmed)
        texts.append(str(as_claimed(task, outcome.value, NOW).text))

    assert texts[1:] == ["Text number 1", "Text number 2"]


async def test_a_name_is_mentioned_in_whatever_letters(
    server: ScriptedServer, network: NetworkClient
) -> None:
    brief = "Set the line of the ticket all in capitals; change nothing else at all."
    stories: JSON = [{"Slug": f"story-{n}", "Brief": f"{n}. {brief}"} for n in range(3)]
    task = ListingReader().listing({"Stories": stories}).tasks[0]
    server.will(answer(200, {"Ticket": {"Number": "T-1", "Line": TEXT}}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).text == TEXT


async def test_a_name_of_several_words_is_mentioned_by_them(
    server: ScriptedServer, network: NetworkClient
) -> None:
    jobs: JSON = [
        {
            "DocketNo": 55012 + n,
            "Freight": {"Amount": f"{n + 9}.00", "Unit": "CREDIT"},
            "Job": "Goods on B/L",
            "Handling": "Fair copy of the rough copy",
        }
        for n in range(3)
    ]
    task = ListingReader().listing({"Dockets": jobs}).tasks[0]
    server.will(answer(200, {"Particulars": {"RoughCopy": TEXT, "Language": "EN"}}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).text == TEXT


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("A munkalapon álló feliratot kérjük vissza.", {"Felirat": TEXT}),
        ("Letter the CollectorsNote of the docket.", {"CollectorsNote": TEXT}),
    ],
)
async def test_what_the_listing_speaks_of_is_the_text(
    server: ScriptedServer, network: NetworkClient, said: str, given: dict[str, JSON]
) -> None:
    jobs: JSON = [
        {"Szam": f"KF-{n}", "Nev": f"Kő {n}", "Leiras": said, "Dij": 9 + n}
        for n in range(3)
    ]
    task = ListingReader().listing({"Munkak": jobs}).tasks[0]
    told = "A munkát felvette, a munkalapot kiállítottuk."
    server.will(answer(200, {"Uzenet": told, "Munkalap": {"Szam": "KF-0", **given}}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).text == TEXT


async def test_how_a_request_ended_is_no_text(
    server: ScriptedServer, network: NetworkClient
) -> None:
    items: JSON = [{"ITMNO": f"{n}A9", "RMK": f"{TEXT} {n}"} for n in range(3)]
    task = ListingReader().listing({"ITEMS": items}).tasks[0]
    said = "ITEM WAS RESERVED FOR THE DEVICE, AND THAT UNTIL THE END OF THE DAY"
    server.will(answer(200, {"RTN_CD": "00", "RTN_TXT": said}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).text == f"{TEXT} 0"


async def test_guidance_beside_a_listed_text_is_no_text(
    server: ScriptedServer, network: NetworkClient
) -> None:
    goods: JSON = [{"mrn": f"26NL{n}", "goodsLine": f"{TEXT} {n}"} for n in range(3)]
    task = ListingReader().listing({"tasks": goods}).tasks[0]
    guidance = "Customs takes descriptions in capital letters: write it in upper case."
    server.will(answer(200, {"mrn": "26NL0", "guidance": guidance}))

    outcome = await network.claim(task, KEY)

    assert isinstance(outcome, Confirmed)
    assert as_claimed(task, outcome.value, NOW).text == f"{TEXT} 0"
