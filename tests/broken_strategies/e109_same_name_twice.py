from journeyman import strategy


@strategy(tags={"a"}, name="twin")
def first(task):
    return "a"


@strategy(tags={"b"}, name="twin")
def second(task):
    return "b"
