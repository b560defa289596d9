from journeyman import Strategy


class Selfless(Strategy):
    tags = {"echo"}

    def run():
        return "x"
