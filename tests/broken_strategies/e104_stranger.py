raise SystemExit("a file that does not import journeyman is not even executed")
