from journeyman import SomethingOfApi2, Strategy


class FromTheFuture(Strategy):
    api, version = 2, "1.0.0"
    tags = {"echo"}

    def run(self, task):
        return "x"
