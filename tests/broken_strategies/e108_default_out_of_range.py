from journeyman import Strategy, param


class Limited(Strategy):
    tags = {"echo"}
    most: int = param(0, ge=1)

    def run(self, task):
        return "x"
