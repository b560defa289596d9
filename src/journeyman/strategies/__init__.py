"""Strategies: plugins that declare which tasks they want, and do them.

`api` is what their authors use; it imports nothing heavy. The daemon loads them by
`loading` and runs them by `running`; `child` is what runs in their processes.
"""
