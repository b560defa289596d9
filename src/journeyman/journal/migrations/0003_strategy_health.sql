-- Strategies that made errors, or said that they cannot work. One without a row is sound.
CREATE TABLE strategy_health (
    strategy     TEXT NOT NULL UNIQUE,
    fingerprint  TEXT NOT NULL,            -- of the file and the settings it is about
    condition    TEXT NOT NULL,            -- sound, resting or misconfigured
    errors       TEXT NOT NULL,            -- JSON: when they were, seconds since 1970
    rest_seconds REAL NOT NULL,            -- the length of the last rest
    problem      TEXT NOT NULL,            -- the last one
    fix          TEXT NOT NULL,
    task_id      TEXT NOT NULL,            -- of the last one
    since        REAL NOT NULL             -- in this condition, seconds since 1970
);
