-- What an older journal does not know of is carried as one row for many posts.
ALTER TABLE spends ADD COLUMN number INTEGER NOT NULL DEFAULT 1;  -- of posts or top-ups

-- What the owner wants to stand still: all work, or one strategy. It outlives restarts.
CREATE TABLE owner_pauses (
    strategy TEXT NOT NULL UNIQUE,           -- empty: all work
    by       TEXT NOT NULL,                  -- who wants it
    reason   TEXT NOT NULL,
    since    TEXT NOT NULL,
    until    TEXT                            -- NULL: until it is resumed
);
