from journeyman import strategy


@strategy(tags={"echo"})
def drip(task):
    yield "x"
