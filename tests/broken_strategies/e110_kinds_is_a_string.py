from journeyman import strategy


@strategy(kinds="word_count")
def letters(task):
    return "x"
