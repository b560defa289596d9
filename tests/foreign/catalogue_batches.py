"""A firm that cleans e-commerce catalogues, written in PHP (Laravel).

Shops send product titles in every shape; cleaners reserve a batch of products by their SKUs (one
to five), send clean rows back, and are paid for the batch.

Wants: claim {"skus": ["KT-1009"]}; submit {"batch_id": 1, "rows": [{"sku": "KT-1009",
"clean_title": ".."}]}; complete {"batch_id": 1}. Answers: {"data": ..}; refusals
{"message": "The skus field is required.", "errors": {"skus": [..]}} with 422, else {"message": ..}
(401, 404, 409). Completing a batch whose rows are all clean pays each row's bounty.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PRODUCTS = [
    (
        "KT-1009",
        "Kettle and Co",
        "Kitchen",
        "stainless steel kettle one litre with wooden handle",
        6,
        "dirty",
    ),
    (
        "KT-1010",
        "Kettle and Co",
        "Kitchen",
        "cast iron tea pot small black with strainer",
        6,
        "dirty",
    ),
    (
        "GD-2201",
        "Green Thumb",
        "Garden",
        "folding garden chair weatherproof set of two",
        5,
        "dirty",
    ),
    (
        "GD-2207",
        "Green Thumb",
        "Garden",
        "watering can ten litres galvanised",
        5,
        "clean",
    ),
    (
        "TX-3140",
        "Woolworks",
        "Textiles",
        "merino blanket grey herringbone double bed size",
        7,
        "dirty",
    ),
    (
        "TX-3141",
        "Woolworks",
        "Textiles",
        "lambswool scarf plain knit assorted colours",
        5,
        "dirty",
    ),
    (
        "EL-4002",
        "Brightside",
        "Lighting",
        "desk lamp with clamp and adjustable arm matt white",
        7,
        "dirty",
    ),
    (
        "EL-4003",
        "Brightside",
        "Lighting",
        "string of forty lanterns for outdoor use",
        6,
        "reserved",
    ),
    (
        "TY-5500",
        "Little Oak",
        "Toys",
        "wooden train with five wagons from two years",
        6,
        "dirty",
    ),
]
MOST = 5


def say(field: str) -> str:
    """Return the name of a field as Laravel's messages have it."""
    return field.replace("_", " ") if "." not in field else field


class Catalogue(Backend):
    """The cleaners' service."""

    def __init__(self) -> None:
        super().__init__()
        self.products: dict[Any, dict[str, Any]] = {
            sku: {
                "sku": sku,
                "shop": shop,
                "category": category,
                "raw_title": title,
                "cleaning_rule": "uppercase: the clean title is the raw title in capital letters",
                "bounty": bounty,
                "status": status,
            }
            for sku, shop, category, title, bounty, status in PRODUCTS
        }
        self.earnable: dict[str, str] = {
            sku: p["raw_title"]
            for sku, p in self.products.items()
            if p["status"] == "dirty"
        }
        self.cleaners: dict[str, dict[str, Any]] = {}
        self.batches: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    # -- what the framework does

    def missing(self, request: Request) -> Response:
        return Response(
            404,
            {"message": f"The route {request.path.lstrip('/')} could not be found."},
        )

    @staticmethod
    def _invalid(errors: dict[str, str]) -> Response:
        first, rest = next(iter(errors.values())), len(errors) - 1
        more = f" (and {rest} more error{'s' if rest > 1 else ''})" if rest else ""
        return Response(
            422,
            {
                "message": first + more,
                "errors": {name: [text] for name, text in errors.items()},
            },
        )

    def _input(
        self, request: Request
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        cleaner = self.cleaners.get(request.token)
        if cleaner is None:
            return {}, {}, Response(401, {"message": "Unauthenticated."})
        try:  # a body that does not parse is an empty input
            body = request.json()
        except ValueError:
            body = {}
        return cleaner, body if isinstance(body, dict) else {}, None

    @staticmethod
    def _list(body: dict[str, Any], name: str, errors: dict[str, str]) -> list[Any]:
        value = body.get(name)
        if value in (None, "", []):
            errors[name] = f"The {say(name)} field is required."
        elif not isinstance(value, list):
            errors[name] = f"The {say(name)} field must be an array."
        elif len(value) > MOST:
            errors[name] = (
                f"The {say(name)} field must not have more than {MOST} items."
            )
        else:
            return value
        return []

    def _batch(
        self, cleaner: dict[str, Any], body: dict[str, Any], errors: dict[str, str]
    ) -> dict[str, Any]:
        value = body.get("batch_id")
        if isinstance(value, str) and value.strip().isdigit():
            value = int(value)
        if value in (None, ""):
            errors["batch_id"] = "The batch id field is required."
        elif not isinstance(value, int) or isinstance(value, bool):
            errors["batch_id"] = "The batch id field must be an integer."
        elif value not in self.batches or self.batches[value]["cleaner"] is not cleaner:
            errors["batch_id"] = "The selected batch id is invalid."
        else:
            return self.batches[value]
        return {}

    def _show(self, batch: dict[str, Any]) -> dict[str, Any]:
        rows = []
        for sku in batch["skus"]:
            product = self.products[sku]
            row = {
                name: product[name]
                for name in ("sku", "raw_title", "cleaning_rule", "bounty")
            }
            rows.append({**row, "clean_title": batch["clean"].get(sku)})
        reserved = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(batch["at"]))
        return {
            "batch_id": batch["id"],
            "status": batch["status"],
            "reserved_at": reserved,
            "rows": rows,
        }

    # -- actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = len(self.cleaners) + 1
        token = f"{number}|{secrets.token_urlsafe(30)}"
        self.cleaners[token] = {"agent_id": str(number), "credits": 100}
        return Response(
            201, {**self.cleaners[token], "access_token": token, "token_type": "Bearer"}
        )

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "15")
        if not limit.isdigit():
            return self._invalid({"limit": "The limit field must be an integer."})
        if not 1 <= int(limit) <= 100:
            return self._invalid(
                {"limit": "The limit field must be between 1 and 100."}
            )
        rows = list(self.products.values())
        meta = {"current_page": 1, "per_page": int(limit), "total": len(rows)}
        return Response(200, {"data": rows[: int(limit)], "meta": meta})

    def marketplace(self, request: Request) -> Response:
        return Response(
            200, {"data": [p for p in self.products.values() if p["status"] == "dirty"]}
        )

    def claim(self, request: Request) -> Response:
        cleaner, body, refusal = self._input(request)
        if refusal:
            return refusal
        errors: dict[str, str] = {}
        skus = self._list(body, "skus", errors)
        for place, sku in enumerate(skus):
            name = f"skus.{place}"
            if not isinstance(sku, str):
                errors[name] = f"The {name} field must be a string."
            elif sku not in self.products:
                errors[name] = f"The selected {name} is invalid."
            elif skus.count(sku) > 1:
                errors[name] = f"The {name} field has a duplicate value."
        if errors:
            return self._invalid(errors)
        for batch in self.batches.values():
            if batch["cleaner"] is cleaner and batch["skus"] == skus:
                return Response(200, {"data": self._show(batch)})
        taken = [sku for sku in skus if self.products[sku]["status"] != "dirty"]
        if taken:
            return Response(
                409, {"message": f"Not available for cleaning: {', '.join(taken)}."}
            )
        number = len(self.batches) + 1
        batch = {
            "id": number,
            "cleaner": cleaner,
            "skus": skus,
            "clean": {},
            "status": "reserved",
            "at": time.time(),
        }
        self.batches[number] = batch
        for sku in skus:
            self.products[sku]["status"] = "reserved"
            self.book.claimed(sku)
        return Response(201, {"data": self._show(batch)})

    def submit(self, request: Request) -> Response:
        cleaner, body, refusal = self._input(request)
        if refusal:
            return refusal
        errors: dict[str, str] = {}
        batch = self._batch(cleaner, body, errors)
        rows = self._list(body, "rows", errors)
        clean = {}
        for place, row in enumerate(rows):
            values = row if isinstance(row, dict) else {}
            for field in ("sku", "clean_title"):
                name, value = f"rows.{place}.{field}", values.get(field)
                if value is None or value == "":
                    errors[name] = f"The {name} field is required."
                elif not isinstance(value, str):
                    errors[name] = f"The {name} field must be a string."
            if not errors:
                sku, title = values["sku"], values["clean_title"].strip()  # TrimStrings
                if sku not in batch["skus"]:
                    errors[f"rows.{place}.sku"] = (
                        f"The selected rows.{place}.sku is not in this batch."
                    )
                elif title != self.products[sku]["raw_title"].upper():
                    name = f"rows.{place}.clean_title"
                    errors[name] = (
                        f"The {name} field must be the raw title in uppercase."
                    )
                clean[sku] = title
        if errors:
            return self._invalid(errors)
        if batch["status"] == "completed":
            return Response(
                409, {"message": f"Batch {batch['id']} is already completed."}
            )
        batch["clean"].update(clean)
        batch["status"] = "submitted"
        return Response(200, {"data": self._show(batch)})

    def complete(self, request: Request) -> Response:
        cleaner, body, refusal = self._input(request)
        if refusal:
            return refusal
        errors: dict[str, str] = {}
        batch = self._batch(cleaner, body, errors)
        if errors:
            return self._invalid(errors)
        dirty = [sku for sku in batch["skus"] if sku not in batch["clean"]]
        if dirty:
            return Response(
                409,
                {
                    "message": f"Batch {batch['id']} has rows that are not clean: {', '.join(dirty)}."
                },
            )
        if batch["status"] != "completed":
            batch["status"] = "completed"
            for sku in batch["skus"]:
                product = self.products[sku]
                product["status"] = "clean"
                cleaner["credits"] += product["bounty"]
                self.book.pay(sku, product["bounty"])
        total = sum(self.products[sku]["bounty"] for sku in batch["skus"])
        return Response(
            200,
            {
                "data": {
                    **self._show(batch),
                    "earned": total,
                    "credits": cleaner["credits"],
                }
            },
        )
