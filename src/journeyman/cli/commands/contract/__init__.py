"""`journeyman contract`: the contract, and what was learned of its other half."""
