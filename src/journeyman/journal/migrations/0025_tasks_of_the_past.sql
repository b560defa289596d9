-- Entries of the ledger that are old stand in files, chained on by their hashes. Of each
-- file: which entries it has, and what the chain and the balance are before and after.
CREATE TABLE ledger_archives (
    name           TEXT PRIMARY KEY,
    first_entry    INTEGER NOT NULL,
    last_entry     INTEGER NOT NULL,
    previous_hash  TEXT NOT NULL,    -- of the entry before the first
    hash           TEXT NOT NULL,    -- of the last entry
    balance        INTEGER NOT NULL, -- after the last entry
    first_at       TEXT NOT NULL,    -- the earliest time of an entry
    last_at        TEXT NOT NULL     -- the latest
) STRICT, WITHOUT ROWID;
DROP TRIGGER ledger_is_not_deleted;
CREATE TRIGGER ledger_is_not_deleted BEFORE DELETE ON ledger
WHEN OLD.entry_id > (SELECT coalesce(max(last_entry), 0) FROM ledger_archives)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- What stays of a task that ended long ago: enough to know it when it is listed again,
-- and where its archive is. Small, as it stays for ever.
CREATE TABLE past_tasks (
    number INTEGER PRIMARY KEY,   -- the first 8 bytes of the SHA-256 of its id, signed
    month  INTEGER NOT NULL,      -- in which it ended (UTC), as 202611
    state  INTEGER NOT NULL       -- a place in `PAST_STATES` of tasks.py
) STRICT;
