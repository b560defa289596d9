"""From a strategy file, or an installed package, to a strategy fit to run."""
