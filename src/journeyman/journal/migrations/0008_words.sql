-- What is stored gets the words that are used everywhere else.
UPDATE spends SET state = 'reserved' WHERE state = 'held';
ALTER TABLE strategy_health RENAME COLUMN rest_seconds TO quarantine_seconds;
UPDATE strategy_health SET condition = 'quarantined' WHERE condition = 'resting';
ALTER TABLE tape RENAME TO recordings;
ALTER TABLE recordings RENAME COLUMN verdicts TO opinions;
ALTER TABLE shadow_verdicts RENAME COLUMN live TO active;
DROP INDEX tape_by_age;
CREATE INDEX recordings_by_age ON recordings (at);
UPDATE totals SET name = 'recordings.bytes' WHERE name = 'tape.bytes';
