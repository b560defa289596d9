-- The market tape: what each strategy was shown of a task, and what was decided then.
-- How the task went on is in `tasks`, `task_events` and `ledger`. One row for each task,
-- of the last decision about it; the oldest go first.
CREATE TABLE tape (
    number   INTEGER PRIMARY KEY,            -- in the order of the decisions
    task_id  TEXT NOT NULL UNIQUE,
    at       TEXT NOT NULL,
    bytes    INTEGER NOT NULL,               -- of `task` and `verdicts`
    in_part  INTEGER NOT NULL,               -- 1: cut, or a secret was taken out
    strategy TEXT NOT NULL,                  -- who got it; empty: nobody
    reason   TEXT NOT NULL,
    task     TEXT NOT NULL,                  -- JSON, without the record as sent
    verdicts TEXT NOT NULL                   -- JSON, by strategy
);

-- What strategies in shadow would have decided about the same tasks.
CREATE TABLE shadow_verdicts (
    number      INTEGER PRIMARY KEY,         -- in the order of the decisions
    strategy    TEXT NOT NULL,
    task_id     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,               -- of the file and settings that decided
    at          TEXT NOT NULL,
    live        TEXT NOT NULL,               -- who got the task; empty: nobody
    wanted      INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    offer       REAL NOT NULL,               -- credits that it expected; 0 for a no
    failed      INTEGER NOT NULL,            -- its `wants` raised, or gave no verdict
    seconds     REAL NOT NULL,               -- that `wants` took
    UNIQUE (strategy, task_id)
);
-- Old rows go by their age.
CREATE INDEX tape_by_age ON tape (at);
CREATE INDEX shadow_verdicts_by_age ON shadow_verdicts (at);
