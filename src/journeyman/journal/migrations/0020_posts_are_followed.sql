-- What the network took for a post beside its reward, where its answer named a fee.
ALTER TABLE spends ADD COLUMN fee INTEGER NOT NULL DEFAULT 0;

-- What a listing showed last of a task that we posted.
CREATE TABLE posts (
    spend_id  TEXT PRIMARY KEY REFERENCES spends (spend_id),
    state     TEXT NOT NULL,  -- ours
    status    TEXT NOT NULL,  -- the network's own word
    result    TEXT,           -- JSON; NULL: none was shown
    seen_at   TEXT NOT NULL,
    ended_at  TEXT,           -- when nothing more was expected of it
    handed_at TEXT            -- when its result was handed to its strategy
) STRICT, WITHOUT ROWID;
