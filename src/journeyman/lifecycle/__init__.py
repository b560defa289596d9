"""The life of strategies: active, in quarantine, in shadow; their hooks and posts."""
