"""Exact arithmetic with a safe evaluator: never `eval` what a stranger wrote."""

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction

from simpleeval import InvalidExpression, SimpleEval

from journeyman import Decline, Example, Strategy, Task

MAX_BITS = 10_000  # of a number: about 3 000 digits


def exact(operation: Callable[..., Fraction]) -> Callable[..., Fraction]:
    """Apply an operation to fractions, and refuse what grows too large."""

    def bounded(*operands: int) -> Fraction:
        value = operation(*map(Fraction, operands))
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
            raise Decline("a number in it is too large")
        return value

    return bounded


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """Raise to a whole power, after a look at how long the result would be."""
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) * (size - 1) > MAX_BITS:
        raise Decline("a power in it has no exact value, or too large a one")
    return base ** int(exponent)


OPERATORS = {
    ast.Add: exact(operator.add),
    ast.Sub: exact(operator.sub),
    ast.Mult: exact(operator.mul),
    ast.Div: exact(operator.truediv),
    ast.Pow: exact(power),
    ast.USub: exact(operator.neg),
    ast.UAdd: exact(operator.pos),
}


class Arithmetic(Strategy):
    """Evaluates expressions of integers exactly, as fractions in lowest terms."""

    api, version = 1, "1.0.0"
    kinds = {"arithmetic"}
    tags = {"math"}
    inputs = {"expression": str}
    examples = [
        Example({"kind": "arithmetic", "input": {"expression": given}}, expect=expected)
        for given, expected in [
            ("(2 + 3) * -4", "-20"),
            ("7 / -3", "-7/3"),
            ("2 ** -2 + 2 ** 10", "4097/4"),
            ("1 / (2 - 2)", Decline),
            ("9 ** 9 ** 9 ** 9", Decline),
        ]
    ]

    def input_problem(self, task: Task) -> str:
        """Want expressions of digits and operators only; no name is ever looked up."""
        if problem := super().input_problem(task):
            return problem
        if re.fullmatch(r"[0-9+\-*/() \t]{1,1000}", task.input["expression"]):
            return ""
        return "the expression is long, or has more than integers and + - * /"

    async def run(self, expression: str) -> str:
        """Return the exact value; `Fraction` prints it as it is wanted."""
        evaluator = SimpleEval(operators=OPERATORS, functions={}, names={})
        try:
            return str(Fraction(evaluator.eval(expression)))
        except ZeroDivisionError:
            raise Decline("it divides by zero") from None
        except (InvalidExpression, SyntaxError, TypeError, ValueError) as error:
            raise Decline("it is not an expression", why=str(error)) from error
        # SystemError: what a parser says when another thread's runs too deep, too.
        except (RecursionError, MemoryError, SystemError):
            raise Decline("it is nested too deeply") from None
