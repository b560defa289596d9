"""Strategies: plugins that say which tasks they want, and do them (design 6).

This door gives the author's API only, so that it stays light. The daemon imports its
side as modules: `registry`, `loader`, `runners`, `examples`.
"""
