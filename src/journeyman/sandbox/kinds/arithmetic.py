"""Exact arithmetic with fractions.

An expression and its value grow together, branch by branch, so that nothing has to
read the expression to know the answer.
"""

from fractions import Fraction
from random import Random
from typing import NamedTuple

from journeyman.sandbox.kinds import kind
from journeyman.sandbox.material import Material

_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_STRENGTH = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}
_LONGEST_ANSWER = 30
"""In characters; longer ones do not test more."""


class _Term(NamedTuple):
    text: str
    value: Fraction
    strength: int
    """How tightly it holds together: weaker ones need parentheses."""

    def within(self, strength: int) -> str:
        return self.text if self.strength >= strength else f"({self.text})"


def _make_arithmetic(rng: Random, _material: Material) -> kind.Draft:
    depth = rng.randint(2, 4)
    term = _expression(rng, depth)
    while len(str(term.value)) > _LONGEST_ANSWER:
        term = _expression(rng, depth)
    return kind.Draft(
        title="Work out an expression exactly",
        description=(
            "Work out `expression` exactly. `**` is a power, and the other signs have "
            "their usual order. Answer with an integer, or with a fraction in lowest "
            "terms such as -7/3, as a string."
        ),
        input={"expression": term.text},
        reward=depth,
        answer=str(term.value),
    )


def _expression(rng: Random, depth: int) -> _Term:
    if depth == 0:
        return _integer(rng)
    if rng.random() < 1 / 5:
        return _power(rng)
    left, right = _expression(rng, depth - 1), _expression(rng, depth - 1)
    sign = rng.choice("+-*/")
    if sign == "/" and right.value == 0:
        sign = "+"
    return _joined(left, sign, right)


def _integer(rng: Random) -> _Term:
    number = rng.randint(-20, 60)
    text = f"({number})" if number < 0 else str(number)
    return _Term(text, Fraction(number), _ATOM)


def _power(rng: Random) -> _Term:
    base = rng.choice([number for number in range(-9, 13) if number != 0])
    exponent = rng.choice((2, 2, 3, 4, -1, -2))
    written = f"({base})" if base < 0 else str(base)
    raised = f"({exponent})" if exponent < 0 else str(exponent)
    return _Term(f"{written} ** {raised}", Fraction(base) ** exponent, _POWER)


def _joined(left: _Term, sign: str, right: _Term) -> _Term:
    strength = _STRENGTH[sign]
    # The right side of equal strength needs parentheses: a - (b - c).
    text = f"{left.within(strength)} {sign} {right.within(strength + 1)}"
    return _Term(text, _value(left.value, sign, right.value), strength)


def _value(left: Fraction, sign: str, right: Fraction) -> Fraction:
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    return left * right if sign == "*" else left / right


def _check_arithmetic(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    value = kind.read_string(result)
    if value != answer:
        raise kind.WrongAnswerError(
            f"{value[:40]!r} is not the exact value in lowest terms",
        )


KINDS = (kind.Kind("arithmetic", ("math",), _make_arithmetic, _check_arithmetic),)
