"""Kaartwerk: NestJS, class-validator with whitelist, a global response interceptor; city maps.

All good answers but registration are {"success", "data", "timestamp"}; POST answers 201.
Listing data: {"places": [{placeId, district, kind, credits, status}]}; the name to letter is told
when claimed (data.place.nameOnSurvey). Claim wants {placeId: uuid}; submit wants
{claimId, result: {lettering}}; complete wants {claimId} and pays.
Refusals: {"message": [..] or "..", "error", "statusCode"}.
"""

import secrets
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PLACES = [
    ("Oldtown", "square", "square of the seven lamp lighters", 14),
    ("Oldtown", "alley", "alley behind the former candle factory", 12),
    ("Harbour", "quay", "quay where the grain ships used to wait", 17),
    ("Harbour", "bridge", "bridge of the patient fishermen", 9),
    ("Northside", "park", "park on the hill above the waterworks", 15),
    ("Northside", "street", "street of the two broken clocks", 10),
]
NAMES = {
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
}


def is_uuid(value: Any) -> bool:
    try:
        return (
            isinstance(value, str)
            and len(value) == 36
            and uuid.UUID(value).version == 4
        )
    except ValueError:
        return False


class NestCityMaps(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.places: dict[str, dict[str, Any]] = {}
        for district, kind, name, credits_ in PLACES:
            key = str(uuid.uuid4())
            self.places[key] = {
                "placeId": key,
                "district": district,
                "kind": kind,
                "credits": credits_,
                "status": "OPEN",
                "nameOnSurvey": name,
            }
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: place["nameOnSurvey"] for key, place in self.places.items()}

    def wrap(self, data: Any, status: int = 201) -> Response:
        stamp = datetime.fromtimestamp(time.time(), UTC)
        return Response(
            status,
            {
                "success": True,
                "data": data,
                "timestamp": stamp.isoformat(timespec="milliseconds").replace(
                    "+00:00", "Z"
                ),
            },
        )

    def throw(self, status: int, message: Any) -> Response:
        return Response(
            status, {"message": message, "error": NAMES[status], "statusCode": status}
        )

    def missing(self, request: Request) -> Response:
        return self.throw(404, f"Cannot {request.method} {request.path}")

    def guard(self, request: Request) -> tuple[Any, Response | None]:
        agent = self.agents.get(request.token)
        if agent is None:
            return None, Response(401, {"message": "Unauthorized", "statusCode": 401})
        return agent, None

    def body(
        self, request: Request, known: list[str]
    ) -> tuple[dict[str, Any], list[str], Response | None]:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return {}, [], self.throw(400, "Unexpected end of JSON input")
        if not isinstance(body, dict):
            return (
                {},
                [],
                self.throw(
                    400, ["an unknown value was passed to the validate function"]
                ),
            )
        return (
            body,
            [f"property {key} should not exist" for key in body if key not in known],
            None,
        )

    def register(self, request: Request) -> Response:
        token = "kw_" + secrets.token_urlsafe(30)
        agent = {"agentId": str(uuid.uuid4()), "credits": 100}
        self.agents[token] = agent
        self.book.registrations += 1
        # The one route with @SkipTransform(): its shape is fixed by the public contract.
        return Response(
            201,
            {
                "agent_id": agent["agentId"],
                "access_token": token,
                "credits": agent["credits"],
            },
        )

    def listing(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdigit():
            return self.throw(400, ["limit must be an integer number"])
        if not 1 <= int(limit) <= 50:
            word = "less than 1" if int(limit) < 1 else "greater than 50"
            return self.throw(400, [f"limit must not be {word}"])
        places = [
            {key: value for key, value in place.items() if key != "nameOnSurvey"}
            for place in self.places.values()
            if place["status"] == "OPEN"
        ]
        return self.wrap(
            {
                "brief": "Letter the name of the place for the printed map, all in capitals.",
                "places": places[: int(limit)],
                "total": len(places),
            },
            200,
        )

    def tasks(self, request: Request) -> Response:
        _, no = self.guard(request)
        return no or self.listing(request)

    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    def view(self, claim: dict[str, Any]) -> dict[str, Any]:
        return {**claim, "place": self.places[claim["placeId"]]}

    def claim(self, request: Request) -> Response:
        agent, no = self.guard(request)
        if no:
            return no
        body, messages, no = self.body(request, ["placeId"])
        if no:
            return no
        if not is_uuid(body.get("placeId")):
            messages.append("placeId must be a UUID")
        if messages:
            return self.throw(400, messages)
        place = self.places.get(body["placeId"])
        if place is None:
            return self.throw(404, f"Place {body['placeId']} not found")
        if place["status"] != "OPEN":
            return self.throw(409, f"Place {place['placeId']} is not open")
        place["status"] = "CLAIMED"
        claim = {
            "claimId": str(uuid.uuid4()),
            "placeId": place["placeId"],
            "agentId": agent["agentId"],
            "state": "ACTIVE",
        }
        self.claims[claim["claimId"]] = claim
        self.book.claimed(place["placeId"])
        return self.wrap(self.view(claim))

    def find(self, agent: dict[str, Any], claim_id: str) -> tuple[Any, Response | None]:
        claim = self.claims.get(claim_id)
        if claim is None:
            return None, self.throw(404, f"Claim {claim_id} not found")
        if claim["agentId"] != agent["agentId"]:
            return None, self.throw(403, "Claim belongs to another agent")
        return claim, None

    def submit(self, request: Request) -> Response:
        agent, no = self.guard(request)
        if no:
            return no
        body, messages, no = self.body(request, ["claimId", "result"])
        if no:
            return no
        if not is_uuid(body.get("claimId")):
            messages.append("claimId must be a UUID")
        result, lettering = body.get("result"), None
        if result is None:
            messages.append("result should not be null or undefined")
        elif not isinstance(result, dict):
            messages.append("nested property result must be either object or array")
        else:
            messages += [
                f"result.property {key} should not exist"
                for key in result
                if key != "lettering"
            ]
            lettering = result.get("lettering")
            if not isinstance(lettering, str):
                messages.append("result.lettering must be a string")
            if lettering is None or lettering == "":
                messages.append("result.lettering should not be empty")
        if messages:
            return self.throw(400, messages)
        claim, no = self.find(agent, body["claimId"])
        if no:
            return no
        if claim["state"] == "COMPLETED":
            return self.throw(409, "Claim is already completed")
        if lettering != self.places[claim["placeId"]]["nameOnSurvey"].upper():
            return self.throw(
                422, "Lettering does not match the name on the survey in capitals"
            )
        claim["state"] = "SUBMITTED"
        return self.wrap(self.view(claim))

    def complete(self, request: Request) -> Response:
        agent, no = self.guard(request)
        if no:
            return no
        body, messages, no = self.body(request, ["claimId"])
        if no:
            return no
        if not is_uuid(body.get("claimId")):
            messages.append("claimId must be a UUID")
        if messages:
            return self.throw(400, messages)
        claim, no = self.find(agent, body["claimId"])
        if no:
            return no
        place = self.places[claim["placeId"]]
        if claim["state"] == "ACTIVE":
            return self.throw(409, "Claim has no submitted result")
        if claim["state"] == "COMPLETED":
            return self.throw(409, "Claim is already completed")
        claim["state"] = place["status"] = "COMPLETED"
        agent["credits"] += place["credits"]
        self.book.pay(place["placeId"], place["credits"])
        return self.wrap(
            {
                **self.view(claim),
                "earned": place["credits"],
                "balance": agent["credits"],
            }
        )
