-- What stays of a task that ended long ago: enough to know it when it is listed again,
-- and where its archive is. Small, as it stays for ever.
CREATE TABLE past_tasks (
    number INTEGER PRIMARY KEY,   -- the first 8 bytes of the SHA-256 of its id, signed
    month  INTEGER NOT NULL,      -- in which it ended (UTC), as 202611
    state  INTEGER NOT NULL       -- a place in `PAST_STATES` of tasks.py
) STRICT;
