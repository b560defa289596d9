"""The verbs of the contract, a file each, and the worker that carries tasks."""
