"""A game studio's back end in the manner of PlayFab: quests as items of a catalogue."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_QUESTS = [
    ("shout_harbour_01", "The Harbour Crier", "all boats must leave at dawn", 20),
    ("shout_tavern_02", "Last Orders", "drink up and go home, heroes", 14),
    ("shout_gate_03", "Gatekeeper", "none shall pass after sunset", 31),
    ("shout_tower_04", "Echo of the Tower", "who wakes the old dragon?", 45),
    ("shout_mine_05", "Warning in the Mine", "mind the third ladder", 17),
    ("shout_court_06", "Herald", "kneel before the queen of ash", 26),
]
_STATUS = {400: "BadRequest", 401: "Unauthorized", 404: "NotFound", 409: "Conflict"}


class QuestHouse(Backend):
    """Pascal-cased JSON in an envelope; the text comes with the claim; submitting pays."""

    def __init__(self) -> None:
        super().__init__()
        self._players: dict[str, dict[str, Any]] = {}  # by token
        self._taken: dict[str, str] = {}  # item -> instance
        self._instances: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every quest."""
        return {name: text for name, _, text, _ in _QUESTS}

    # -- the envelope --------------------------------------------------------------

    @staticmethod
    def _date(days: int = 0) -> str:
        moment = datetime.now(UTC) + timedelta(days=days)
        return (
            moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
        )

    @staticmethod
    def _ok(data: dict[str, Any]) -> Response:
        return Response(200, {"code": 200, "status": "OK", "data": data})

    @staticmethod
    def _error(
        code: int,
        error: str,
        number: int,
        message: str,
        details: dict[str, list[str]] | None = None,
    ) -> Response:
        body: dict[str, Any] = {
            "code": code,
            "status": _STATUS[code],
            "error": error,
            "errorCode": number,
            "errorMessage": message,
        }
        if details:
            body["errorDetails"] = details
        return Response(code, body)

    def _params(self, details: dict[str, list[str]]) -> Response:
        return self._error(
            400, "InvalidParams", 1000, "Invalid input parameters", details
        )

    def missing(self, request: Request) -> Response:
        """Answer to an API method that the title does not have."""
        return self._error(
            404, "NotFound", 1088, f"No API method at {request.path} for this title"
        )

    def _player(self, request: Request) -> dict[str, Any] | Response:
        if not request.token:
            text = "This API method does not allow anonymous callers."
            return self._error(401, "NotAuthenticated", 1074, text)
        player = self._players.get(request.token)
        if player is None:
            return self._error(
                401, "NotAuthorized", 1089, "The client session ticket is not valid."
            )
        return player

    def _call(
        self, request: Request, fields: dict[str, type]
    ) -> tuple[dict[str, Any], dict[str, Any]] | Response:
        """Return the player and the parameters of a call, both checked."""
        player = self._player(request)
        if isinstance(player, Response):
            return player
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            text = "The request body could not be parsed as a JSON object."
            return self._error(400, "InvalidRequest", 1071, text)
        details: dict[str, list[str]] = {}
        for name, kind in fields.items():
            value = body.get(name)
            if value is None or value == "":
                details[name] = [f"The {name} field is required."]
            elif type(value) is not kind:
                kinds = {str: "String", int: "Int32"}
                details[name] = [
                    f"The value could not be converted to System.{kinds[kind]}."
                ]
        entity = body.get("Entity")
        if entity is not None:
            same = isinstance(entity, dict) and entity.get("Id") == player["Id"]
            if not same:
                details["Entity"] = ["Entity.Id must be that of the calling player."]
        return self._params(details) if details else (player, body)

    # -- the methods ---------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """LoginWithCustomID, CreateAccount true; flat, as the contract has it."""
        self.book.registrations += 1
        ident = secrets.token_hex(8).upper()
        token = f"{ident}--{secrets.token_urlsafe(24)}-5F1A2"
        self._players[token] = {"Id": ident, "CR": 100}
        return Response(200, {"agent_id": ident, "access_token": token, "credits": 100})

    def _catalogue(self, request: Request) -> Response:
        raw = request.query.get("limit", "10")
        if not raw.isdigit() or not 1 <= int(raw) <= 50:
            return self._params(
                {"limit": ["The field limit must be between 1 and 50."]}
            )
        free = [quest for quest in _QUESTS if quest[0] not in self._taken]
        items = [
            {
                "ItemId": name,
                "ItemClass": "Quest",
                "CatalogVersion": "Season4",
                "DisplayName": title,
                "Description": "You get a line of dialogue when you accept the quest. "
                "Hand it in shouted, that is, all in capital letters.",
                "Tags": ["dialogue", "text"],
                "GrantedVirtualCurrencies": {"CR": reward},
                "IsLimitedEdition": True,
                "InitialLimitedEditionCount": 1,
            }
            for name, title, _, reward in free[: int(raw)]
        ]
        return self._ok({"Catalog": items})

    def marketplace(self, request: Request) -> Response:
        """GetCatalogItems, for anybody."""
        return self._catalogue(request)

    def tasks(self, request: Request) -> Response:
        """GetCatalogItems, for a player."""
        player = self._player(request)
        return player if isinstance(player, Response) else self._catalogue(request)

    def claim(self, request: Request) -> Response:
        """PurchaseItem, at no price."""
        call = self._call(request, {"ItemId": str})
        if isinstance(call, Response):
            return call
        player, body = call
        item = body["ItemId"]
        quest = next((quest for quest in _QUESTS if quest[0] == item), None)
        if quest is None:
            return self._error(404, "ItemNotFound", 1047, f"Item not found: {item}")
        if item in self._taken:
            text = f"Limited edition item {item} is no longer available"
            return self._error(409, "ConcurrentEditError", 1133, text)
        instance = secrets.token_hex(8).upper()
        self._taken[item] = instance
        self._instances[instance] = {"Owner": player["Id"], "Quest": quest, "Uses": 1}
        self.book.claimed(item)
        granted = {
            "ItemInstanceId": instance,
            "ItemId": item,
            "ItemClass": "Quest",
            "DisplayName": quest[1],
            "PurchaseDate": self._date(),
            "Expiration": self._date(2),
            "RemainingUses": 1,
        }
        line = {"DialogueLine": quest[2], "Language": "en"}
        return self._ok({"ItemInstance": granted, "FunctionParameter": line})

    def _owned(self, player: dict[str, Any], body: dict[str, Any]) -> Any:
        instance = self._instances.get(body["ItemInstanceId"])
        if instance is None or instance["Owner"] != player["Id"]:
            text = f"Player {player['Id']} does not own item {body['ItemInstanceId']}"
            return self._error(400, "ItemNotOwned", 1048, text)
        return instance

    def submit(self, request: Request) -> Response:
        """ExecuteCloudScript of the quest's turn-in; a right line is paid at once."""
        call = self._call(request, {"ItemInstanceId": str, "FunctionResult": str})
        if isinstance(call, Response):
            return call
        player, body = call
        instance = self._owned(player, body)
        if isinstance(instance, Response):
            return instance
        name, _, text, reward = instance["Quest"]
        if name in self.book.paid:
            return self._error(
                409, "ConcurrentEditError", 1133, f"Quest {name} is already turned in"
            )
        if body["FunctionResult"] != text.upper():
            return self._params(
                {"FunctionResult": ["The line is not what the quest asked for."]}
            )
        player["CR"] += reward
        self.book.pay(name, reward)
        return self._ok(
            {
                "PlayFabId": player["Id"],
                "VirtualCurrency": "CR",
                "BalanceChange": reward,
                "Balance": player["CR"],
            }
        )

    def complete(self, request: Request) -> Response:
        """ConsumeItem: the used quest leaves the inventory."""
        call = self._call(request, {"ItemInstanceId": str, "ConsumeCount": int})
        if isinstance(call, Response):
            return call
        player, body = call
        instance = self._owned(player, body)
        if isinstance(instance, Response):
            return instance
        if instance["Quest"][0] not in self.book.paid:
            return self._error(
                400, "InvalidRequest", 1071, "The quest has not been turned in"
            )
        if body["ConsumeCount"] < 1:
            return self._params(
                {"ConsumeCount": ["The field ConsumeCount must be between 1 and 25."]}
            )
        if body["ConsumeCount"] > instance["Uses"]:
            message = f"Item has {instance['Uses']} remaining uses"
            return self._error(400, "NoRemainingUses", 1043, message)
        instance["Uses"] -= body["ConsumeCount"]
        return self._ok({"ItemInstanceId": body["ItemInstanceId"], "RemainingUses": 0})
