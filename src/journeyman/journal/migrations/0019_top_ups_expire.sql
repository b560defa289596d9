-- Until when a top-up waits: for the owner's word, or for the payment. NULL: for ever,
-- as those do that were asked for before.
ALTER TABLE spends ADD COLUMN expires_at TEXT;
