"""Tools for the model: MCP servers from a file, and only the tools that are allowed."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from journeyman import Misconfigured

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

START_SECONDS = 30.0
ANSWER_SECONDS = 60.0


def toolsets_from(file: str, allowed: frozenset[str]) -> "list[AbstractToolset[Any]]":
    """Return the servers of a file with `mcpServers`; none where no file is named.

    A tool goes by `server_tool`. What is not in `allowed` the model never sees.

    Raises:
        Misconfigured: the file is not valid, or no tool is allowed.
    """
    if not file:
        return []
    if not allowed:
        raise Misconfigured(
            "mcp_servers is set, but no tool is allowed",
            fix="name the tools in mcp_tools, such as 'search_find search_read'",
        )
    return [_toolset(name, server, allowed) for name, server in _read(file).items()]


def _read(file: str) -> dict[str, dict[str, Any]]:
    try:
        servers = json.loads(Path(file).expanduser().read_bytes())["mcpServers"]
        if all(isinstance(server, dict) for server in servers.values()):
            return dict(servers)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        cause = f": {type(error).__name__}"
    else:
        cause = ""
    raise Misconfigured(
        f"mcp_servers = {file!r} cannot be read{cause}",
        fix='write {"mcpServers": {"name": {"command": "...", "args": []}}} to it',
    )


def _toolset(
    name: str, server: dict[str, Any], allowed: frozenset[str]
) -> "AbstractToolset[Any]":
    from pydantic_ai.mcp import MCPToolset  # noqa: PLC0415 - it is heavy

    if "command" in server:
        client: Any = _program(server)
    elif "url" in server:
        client = str(server["url"])
    else:
        raise Misconfigured(
            f"the MCP server {name!r} has neither `command` nor `url`",
            fix="say how it is reached",
        )
    toolset = MCPToolset[Any](
        client,
        id=name,
        headers=server.get("headers") if "url" in server else None,
        init_timeout=START_SECONDS,
        read_timeout=ANSWER_SECONDS,
    )
    named = toolset.prefixed(name)
    return named.filtered(lambda _run, tool: tool.name in allowed)


def _program(server: dict[str, Any]) -> Any:  # noqa: ANN401 - fastmcp's transport
    from fastmcp.client.transports import StdioTransport  # noqa: PLC0415 - it is heavy

    return StdioTransport(
        command=str(server["command"]),
        args=[str(word) for word in server.get("args") or []],
        # Only this, and what every program needs: never the daemon's environment.
        env=server.get("env"),
        cwd=server.get("cwd"),
        # It ends with the task, so that nothing of one task reaches the next.
        keep_alive=False,
        log_file=Path(os.devnull),
    )
