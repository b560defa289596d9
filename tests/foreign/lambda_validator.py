"""API Gateway's request validator before a Lambda function, with no description published.

A body that does not fit the model is {"message": "Invalid request body"} whatever is wrong
with it, extra properties included: no name, no type, no place. The records of the listing
are all that shows how names are written here. The function scans a DynamoDB table, so that
a page ends with LastEvaluatedKey and the next one starts at ExclusiveStartKey. What the
function itself refuses has a message, and a delivery pays once it is completed.
"""

import json
import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

PROMPTS = (
    "the warehouse cat has a badge",
    "label every crate on the left",
    "a drone circles the parking lot",
    "the forklift beeps in b flat",
    "night shift starts with soup",
    "someone taped the scanner shut",
    "ship the violin in two boxes",
    "the conveyor stops at midnight",
    "pallets are stacked like chess",
    "a lost parcel came home again",
)
PAGE = 4
TASK = {"taskId": str, "agentId": str}
DELIVERY = {**TASK, "result": str}


class LambdaValidator(Backend):
    """Ten items in a table."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.items: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            key = str(uuid.uuid4())
            self.items[key] = {
                "taskId": key,
                "taskType": "uppercase",
                "prompt": prompt,
                "rewardCredits": n % 3 + 1,
                "taskStatus": "OPEN",
                "createdAt": 1748800000 + 60 * n,
            }

    def texts(self) -> dict[str, str]:
        return {key: item["prompt"] for key, item in self.items.items()}

    @staticmethod
    def say(status: int, message: str) -> Response:
        headers = {"x-amzn-RequestId": str(uuid.uuid4())}
        return Response(status, {"message": message}, headers)

    def missing(self, request: Request) -> Response:
        return self.say(403, "Missing Authentication Token")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(30)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        every = [*self.items]
        start = 0
        if after := request.query.get("ExclusiveStartKey"):
            try:
                start = every.index(json.loads(after)["taskId"]) + 1
            except (KeyError, TypeError, ValueError):
                return self.say(500, "Internal server error")
        shown = every[start : start + PAGE]
        found: Json = {
            "Items": [self.items[key] for key in shown],
            "Count": len(shown),
            "ScannedCount": len(shown),
        }
        if start + PAGE < len(every):
            found["LastEvaluatedKey"] = {"taskId": shown[-1]}
        return Response(200, found)

    def valid(self, request: Request, model: Json) -> Json | None:
        """Return the body if it fits the model, which is all that anyone learns."""
        try:
            body = request.json()
        except ValueError:
            return None
        fits = isinstance(body, dict) and body.keys() == model.keys()
        if not fits or not all(
            isinstance(body[k], t) and body[k] for k, t in model.items()
        ):
            return None
        return dict(body)

    def lambda_proxy(
        self, request: Request, model: Json, status: str
    ) -> Json | Response:
        """Return the item that a body is about, once gateway and function agree."""
        if not request.token:
            return self.say(401, "Unauthorized")
        if request.token not in self.agents:
            denied = {
                "Message": "User is not authorized to access this resource"
                " with an explicit deny"
            }
            return Response(403, denied)
        body = self.valid(request, model)
        if body is None:
            return self.say(400, "Invalid request body")
        if body["agentId"] != self.agents[request.token]:
            return self.say(403, "Forbidden")
        item = self.items.get(body["taskId"])
        if item is None:
            return self.say(404, "Not found")
        if item["taskStatus"] != status:
            return self.say(409, "The conditional request failed")
        return {**body, "item": item}

    def claim(self, request: Request) -> Response:
        found = self.lambda_proxy(request, TASK, "OPEN")
        if isinstance(found, Response):
            return found
        item = found["item"]
        item.update(taskStatus="CLAIMED", agentId=found["agentId"])
        self.book.claimed(item["taskId"])
        return Response(200, {"Attributes": item})

    def submit(self, request: Request) -> Response:
        found = self.lambda_proxy(request, DELIVERY, "CLAIMED")
        if isinstance(found, Response):
            return found
        item = found["item"]
        if found["result"] != item["prompt"].upper():
            return self.say(422, "The result did not pass verification")
        item["taskStatus"] = "SUBMITTED"
        return Response(200, {"Attributes": item})

    def complete(self, request: Request) -> Response:
        found = self.lambda_proxy(request, TASK, "SUBMITTED")
        if isinstance(found, Response):
            return found
        item = found["item"]
        item["taskStatus"] = "COMPLETED"
        self.book.pay(item["taskId"], item["rewardCredits"])
        return Response(200, {"Attributes": item})
