from journeyman import Strategy


class Slow(Strategy):
    async def wants(self, task):
        return True

    def run(self, task):
        return "x"
