# /// script
# dependencies = ["tiktoken=0.7"]
# ///
from journeyman import Strategy


class Echo(Strategy):
    tags = {"echo"}

    def run(self, task):
        return task.text
