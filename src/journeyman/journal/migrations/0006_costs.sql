-- What work cost the owner outside of the network, such as a language model's tokens:
-- entries of the kind `cost`. They move no credits, so their amount is 0.
ALTER TABLE ledger ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;  -- millionths of a credit
CREATE INDEX ledger_costs ON ledger (strategy, at) WHERE kind = 'cost';
