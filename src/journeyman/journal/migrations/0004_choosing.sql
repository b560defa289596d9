-- What a strategy offered for a task when it wanted it, and what the task is about:
-- by these the tasks that wait for a slot are put in order.
ALTER TABLE tasks ADD COLUMN kind TEXT NOT NULL DEFAULT '';    -- as listed
ALTER TABLE tasks ADD COLUMN chance REAL NOT NULL DEFAULT 1;   -- of being paid, 0 to 1
ALTER TABLE tasks ADD COLUMN cost REAL NOT NULL DEFAULT 0;     -- credits

-- How the tasks of a strategy went, by their kind.
CREATE TABLE track_records (
    strategy          TEXT NOT NULL,
    kind              TEXT NOT NULL,
    -- Old evidence fades from these four, so they are no whole numbers.
    paid              REAL NOT NULL DEFAULT 0,  -- tasks that were paid
    promised          REAL NOT NULL DEFAULT 0,  -- tasks that it promised to be paid for
    timed             REAL NOT NULL DEFAULT 0,  -- tasks of which the time is known
    seconds           REAL NOT NULL DEFAULT 0,  -- that those held a slot
    -- These only grow: what was foreseen, and what came.
    tasks             INTEGER NOT NULL DEFAULT 0,
    expected_credits  REAL NOT NULL DEFAULT 0,
    credits           INTEGER NOT NULL DEFAULT 0,
    expected_seconds  REAL NOT NULL DEFAULT 0,
    actual_seconds    REAL NOT NULL DEFAULT 0,
    UNIQUE (strategy, kind)
);
