"""Counting words: the smallest complete strategy, in the class form."""

from journeyman import Context, Decline, Example, Result, Strategy, param


class CountWords(Strategy):
    """Counts the words of a text, parted by white space."""

    api, version = 1, "1.0.0"

    # It wants a task by its kind or, where a network has no kinds, by its tags.
    kinds = {"word_count"}
    tags = {"text", "count"}
    inputs = {"text": str}

    max_words: int = param(100_000, ge=1, help="decline longer texts")

    examples = [
        Example({"kind": "word_count", "input": {"text": "to be or not"}}, expect="4"),
        Example({"kind": "word_count", "input": {"text": " \n "}}, expect="0"),
    ]

    async def run(self, text: str, ctx: Context) -> Result:
        """Count what `str.split` gives: it knows every kind of white space."""
        words = len(text.split())
        if words > self.max_words:
            raise Decline("the text is too long", words=words, limit=self.max_words)
        ctx.log.info("counted", words=words)
        return Result(str(words), evidence={"method": "runs between white space"})
