"""What the daemon tells: the catalogue of events, logging, redaction."""
