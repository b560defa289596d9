from journeyman import Strategy


class Computed(Strategy):
    api = "1" * 1
    tags = {"echo"}

    def run(self, task):
        return "x"
