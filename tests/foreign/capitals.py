"""The strategy of a trial: a file as an owner would write it."""

from journeyman import Context, Result, Strategy, Task


class Capitals(Strategy):
    """Writes a text in capital letters."""

    api, version = 1, "1.0.0"

    def wants(self, task: Task) -> bool:
        return True

    def run(self, task: Task, ctx: Context) -> Result:
        return Result(task.text.upper())
