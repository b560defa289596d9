-- Finds the pay that an answer named beyond what was listed, while no balance shows it.
CREATE INDEX ledger_claims ON ledger (entry_id) WHERE confidence = 'claimed';
