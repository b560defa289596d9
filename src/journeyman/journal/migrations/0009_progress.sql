-- How often in a row the network said that a task is still being looked at.
ALTER TABLE tasks ADD COLUMN reviews INTEGER NOT NULL DEFAULT 0;
-- What the network's answers gave for a task, by action and path, JSON.
ALTER TABLE task_texts ADD COLUMN given TEXT NOT NULL DEFAULT '{}';
DROP VIEW full_tasks;
CREATE VIEW full_tasks AS
    SELECT tasks.*, tasks.rowid AS number, record, result, given
    FROM tasks JOIN task_texts USING (task_id);
