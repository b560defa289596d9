-- How a strategy fares is known by the kind of its tasks, too: what its results brought.
ALTER TABLE strategy_health RENAME TO health_of_wholes;
CREATE TABLE strategy_health (
    strategy           TEXT NOT NULL,
    kind               TEXT NOT NULL DEFAULT '',   -- of tasks; empty: all of it, its errors
    fingerprint        TEXT NOT NULL,              -- of the file and the settings it is about
    condition          TEXT NOT NULL,              -- sound, quarantined or misconfigured
    errors             TEXT NOT NULL,              -- JSON: when they were, seconds since 1970
    quarantine_seconds REAL NOT NULL,              -- the length of the last quarantine
    problem            TEXT NOT NULL,              -- the last one
    fix                TEXT NOT NULL,
    task_id            TEXT NOT NULL,              -- of the last one
    since              REAL NOT NULL,              -- in this condition, seconds since 1970
    window             INTEGER NOT NULL DEFAULT 0, -- how many tasks may be undecided at once
    gains              TEXT NOT NULL DEFAULT '[]', -- JSON: what its last results brought, net
    UNIQUE (strategy, kind)
);
INSERT INTO strategy_health (strategy, fingerprint, condition, errors,
                             quarantine_seconds, problem, fix, task_id, since)
    SELECT strategy, fingerprint, condition, errors,
           quarantine_seconds, problem, fix, task_id, since FROM health_of_wholes;
DROP TABLE health_of_wholes;
CREATE INDEX ledger_costs_of ON ledger (subject) WHERE kind = 'cost';
