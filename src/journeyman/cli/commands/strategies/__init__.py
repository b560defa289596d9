"""`journeyman strategies ...`: what is loaded and how it fares; making a new one."""
