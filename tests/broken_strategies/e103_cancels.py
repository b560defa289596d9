import asyncio

from journeyman import strategy

raise asyncio.CancelledError
