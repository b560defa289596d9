-- What each endpoint of a network was seen to answer: shapes and counts, never values.
CREATE TABLE observations (
    network  TEXT NOT NULL,                  -- its base address
    endpoint TEXT NOT NULL,                  -- our name for it
    record   TEXT NOT NULL,                  -- JSON; the network client reads it
    at       TEXT NOT NULL,                  -- when it was last written
    UNIQUE (network, endpoint)
);
