-- The last tasks of a state that has ended are found without reading the others, however
-- many there are. Open tasks are few, and have an index of their own.
CREATE INDEX tasks_ended ON tasks (state, updated_at) WHERE next_at IS NULL;
