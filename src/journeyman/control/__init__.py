"""Commands to a running daemon: one table of verbs, the server, the client."""
