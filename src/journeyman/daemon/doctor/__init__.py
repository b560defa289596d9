"""`journeyman doctor`: is everything as it must be, and what to do where it is not."""
