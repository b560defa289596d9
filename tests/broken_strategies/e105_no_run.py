from journeyman import Strategy


class Idle(Strategy):
    tags = {"idle"}
