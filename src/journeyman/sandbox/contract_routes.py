"""The contract's ten endpoints, under its paths, as the options have them."""

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, NamedTuple, TypeAlias

from fastapi import APIRouter, Response
from pydantic import BaseModel

from journeyman.sandbox import surface
from journeyman.sandbox.answers import writer_for
from journeyman.sandbox.bodies import CheckoutResponse, NewAgent
from journeyman.sandbox.dialects import bodies_for
from journeyman.sandbox.handlers import Actions, Reads, create_checkout, join
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.surface import Endpoint
from journeyman.sandbox.vocabularies import VOCABULARIES
from journeyman.sandbox.wire import StrictRoute

_Handler: TypeAlias = Callable[..., Awaitable[Response]]


class _Served(NamedTuple):
    """One endpoint as it is served."""

    endpoint: Endpoint
    handler: _Handler
    response_model: type[BaseModel] | None = None
    """Where the contract shows the answer."""


def contract_router(options: SandboxOptions) -> APIRouter:
    """Put the endpoints that there are under the contract's paths."""
    router = APIRouter(
        route_class=StrictRoute,
        responses={"4XX": VOCABULARIES[options.errors].described()},
    )
    for endpoint, handler, response_model in _served(options):
        if endpoint.name not in options.absent:
            router.add_api_route(
                endpoint.path,
                handler,
                methods=[endpoint.method],
                name=endpoint.name,
                summary=endpoint.purpose,
                response_model=response_model,
            )
    return router


def _served(options: SandboxOptions) -> list[_Served]:
    reads = Reads(writer_for(options))
    actions = Actions(writer_for(options).receipt)
    bodies = bodies_for(options.dialect, strict=options.strict)
    return [
        _Served(surface.JOIN, join, NewAgent),
        _Served(surface.CHECKOUT, create_checkout, CheckoutResponse),
        _Served(surface.MARKETPLACE, reads.list_marketplace),
        _Served(surface.PUBLIC_DIRECTORY, reads.list_public_agents),
        _Served(surface.DIRECTORY, reads.list_agents),
        _Served(surface.DISCOVER, reads.discover_tasks),
        _Served(surface.CLAIM, _taking(bodies.action, actions.claim_task)),
        _Served(surface.SUBMIT, _taking(bodies.submission, actions.submit_result)),
        _Served(surface.COMPLETE, _taking(bodies.action, actions.complete_task)),
        _Served(surface.POST_TASK, _taking(bodies.new_task, actions.post_task)),
    ]


def _taking(model: type[BaseModel], handler: _Handler) -> _Handler:
    """Give the handler with its first argument read as `model`."""
    signature = inspect.signature(handler)
    body, *others = signature.parameters.values()

    @wraps(handler)
    async def handle(**values: Any) -> Response:  # noqa: ANN401 - as the handler has it
        return await handler(**values)

    parameters = [body.replace(annotation=model), *others]
    handle.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined] # functions may have one (PEP 362)
    return handle
