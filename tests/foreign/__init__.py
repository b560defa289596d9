"""Networks that share nothing with Journeyman but the contract's paths."""
