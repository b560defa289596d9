from journeyman import strategy


@strategy(tags={"echo"}, runner="thread")
async def both(task):
    return "x"
