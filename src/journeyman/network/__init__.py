"""The network client: the contract's endpoints and documents over HTTP."""
