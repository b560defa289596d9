"""All that speaks to Dask: the bridge beside the daemon, and what runs on a worker.

The daemon imports nothing of it: `strategies.running.cluster` starts the bridge as a
process and exchanges the frames of `strategies.child.messages` with it.
"""
