from journeyman import strategy

TABLE = {}
ENTRY = TABLE["not there"]
