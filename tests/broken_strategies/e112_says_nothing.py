from journeyman import Strategy


class Silent(Strategy):
    def run(self, task):
        return "x"
