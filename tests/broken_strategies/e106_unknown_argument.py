from journeyman import strategy


@strategy(tags={"echo"})
def nosy(task, token):
    return token
