"""The sandbox as an ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from fastapi import Depends, FastAPI, Request

from journeyman.sandbox import workshop
from journeyman.sandbox.ambient import Ambient, Machine
from journeyman.sandbox.chaos import Chaos
from journeyman.sandbox.contract_routes import contract_router
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.rivals import Rival
from journeyman.sandbox.state import State, open_state
from journeyman.sandbox.surface import VERSION
from journeyman.sandbox.vocabularies import VOCABULARIES
from journeyman.sandbox.web_routes import web_router
from journeyman.sandbox.wire import install_error_answers


def create_app(options: SandboxOptions, ambient: Ambient | None = None) -> FastAPI:
    """Open the data, make the first tasks and build the application.

    It can be called at once; rivals live, and the data is closed, with its lifespan.

    Raises:
        SandboxError: the data cannot be used.
    """
    state = open_state(options, ambient or Machine())
    workshop.stock(state)
    app = FastAPI(
        title="Agent Network Service (sandbox)",
        version=VERSION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.sandbox = state
    app.include_router(contract_router(options), dependencies=[Depends(_take_time)])
    app.include_router(web_router())
    install_error_answers(app, VOCABULARIES[options.errors])
    if options.chaos_level != "off":
        app.add_middleware(Chaos, state=state)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: State = app.state.sandbox
    try:
        async with anyio.create_task_group() as group:
            for number in range(1, state.options.rivals + 1):
                group.start_soon(Rival(state, number).run)
            yield
            group.cancel_scope.cancel()
    finally:
        state.db.close()


async def _take_time(request: Request) -> None:
    state: State = request.app.state.sandbox
    if state.options.latency_seconds:
        await state.ambient.sleep(state.options.latency_seconds)
