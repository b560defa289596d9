-- Holds all that limits count a second time: SQLite can compare an index with its table,
-- so that a changed bit in either of them is found before anything is decided.
DROP INDEX spends_by_time;
CREATE INDEX spends_by_time
    ON spends (kind, at, state, credits, fee, cents, number, strategy);
