-- Each entry moves credits between two accounts: `account` gains the amount, `contra`
-- loses it, so the sum over all accounts is 0 by construction. What was expected, what
-- the network claimed and the balance that it showed stand beside what was booked; NULL
-- is unknown.
ALTER TABLE ledger ADD COLUMN account  TEXT NOT NULL DEFAULT '';
ALTER TABLE ledger ADD COLUMN contra   TEXT NOT NULL DEFAULT '';
ALTER TABLE ledger ADD COLUMN expected INTEGER;
ALTER TABLE ledger ADD COLUMN claimed  INTEGER;
ALTER TABLE ledger ADD COLUMN observed INTEGER;
ALTER TABLE ledger ADD COLUMN cause    TEXT NOT NULL DEFAULT '';
ALTER TABLE ledger ADD COLUMN request  TEXT NOT NULL DEFAULT '';  -- idempotency key
ALTER TABLE ledger ADD COLUMN version  INTEGER NOT NULL DEFAULT 1;  -- of the hash

-- Entries of before keep their hashes, which do not cover their accounts: those follow
-- from the kind.
DROP TRIGGER ledger_is_not_changed;
UPDATE ledger SET account = 'agent', contra = CASE kind
    WHEN 'starter' THEN 'starter'
    WHEN 'earned' THEN 'earnings'
    WHEN 'spent' THEN 'escrow:' || subject
    WHEN 'top-up' THEN 'topup'
    ELSE 'adjustment' END
    WHERE kind != 'cost';
CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- The balances of the accounts, those of tasks and posts together.
INSERT INTO totals (name, value)
    SELECT 'account.' || substr(name, 1, instr(name || ':', ':') - 1), sum(credits)
    FROM (SELECT account AS name, amount AS credits FROM ledger
          UNION ALL SELECT contra, -amount FROM ledger)
    WHERE name != '' GROUP BY 1;
