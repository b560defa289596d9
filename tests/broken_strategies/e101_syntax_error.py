from journeyman import strategy

@strategy(tags={"echo"}
def echo(task):
    return task.text
