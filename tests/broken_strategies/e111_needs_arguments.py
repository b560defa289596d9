from journeyman import Strategy


class Demanding(Strategy):
    tags = {"echo"}

    def __init__(self, api_key):
        self.api_key = api_key

    def run(self, task):
        return "x"
