-- Tasks that were passed over are forgotten after a while, the longest known first.
CREATE INDEX tasks_passed_over ON tasks (updated_at) WHERE state = 'skipped';
