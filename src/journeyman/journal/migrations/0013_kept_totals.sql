-- What answers gave for a task changes with its state: kept with that, it is no further
-- write.
ALTER TABLE tasks ADD COLUMN given TEXT NOT NULL DEFAULT '{}';
UPDATE tasks SET given = (SELECT given FROM task_texts AS texts
                          WHERE texts.task_id = tasks.task_id)
    WHERE task_id IN (SELECT task_id FROM task_texts WHERE given != '{}');
DROP VIEW full_tasks;
ALTER TABLE task_texts DROP COLUMN given;
CREATE VIEW full_tasks AS
    SELECT tasks.*, tasks.rowid AS number, record, result
    FROM tasks JOIN task_texts USING (task_id);

-- How the tasks of each strategy ended, by day, and why tasks are skipped: kept, so that
-- no question has to read them all.
INSERT OR REPLACE INTO totals (name, value)
    SELECT 'ended.' || substr(updated_at, 1, 10) || '.' || state || '.' || strategy,
           count(*)
    FROM tasks WHERE strategy != '' AND next_at IS NULL GROUP BY 1;
INSERT OR REPLACE INTO totals (name, value)
    SELECT 'skipped.' || reason, count(*)
    FROM tasks WHERE state = 'skipped' GROUP BY reason;
