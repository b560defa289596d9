-- A posting plan has one post for each of its slots, whatever the network answers and
-- whenever the daemon is killed. What was certainly not posted may be tried again.
ALTER TABLE spends ADD COLUMN slot TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX spends_by_slot ON spends (slot)
    WHERE slot != '' AND state != 'released';
