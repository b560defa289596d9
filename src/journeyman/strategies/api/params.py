"""Typed settings of a strategy: `max_words: int = param(50_000, ge=1)`."""

import math
from collections.abc import Collection
from typing import TypeVar, cast

Value = bool | int | float | str
V = TypeVar("V", bool, int, float, str)

TYPES = (bool, int, float, str)


class ParamError(ValueError):
    """A parameter is declared wrongly, or set to a value that it does not allow."""


class Param:
    """A setting with a default, a type (the default's) and a range.

    Reading it from an instance gives its value; setting it checks the value.
    """

    def __init__(
        self,
        default: Value,
        *,
        bounds: dict[str, float | None],
        choices: Collection[Value] | None,
        help_text: str,
    ) -> None:
        """Declare the parameter; `bounds` has the keys ge, le, gt and lt."""
        if type(default) not in TYPES:
            raise ParamError(
                f"param({default!r}): the default must be a bool, int, float or str"
            )
        self.name = "param"
        self.default = default
        self.type = type(default)
        self.bounds = {sign: b for sign, b in bounds.items() if b is not None}
        self.choices = None if choices is None else tuple(choices)
        self.help = help_text
        self.check(default)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Value:
        if instance is None:
            return self.default
        return cast("Value", vars(instance).get(self.name, self.default))

    def __set__(self, instance: object, value: object) -> None:
        vars(instance)[self.name] = self.check(value)

    def check(self, value: object) -> Value:
        """Return the value in the parameter's own type.

        Raises:
            ParamError: another type, out of range, or not one of the choices.
        """
        typed = self._typed(value)
        if self.choices is not None and typed not in self.choices:
            allowed = ", ".join(map(repr, self.choices))
            raise ParamError(f"{self.name} = {value!r}: choose one of {allowed}")
        if isinstance(typed, (int, float)):
            self._check_bounds(typed)
        return typed

    def parse(self, text: str) -> Value:
        """Read the value from a command line.

        Raises:
            ParamError: it is not of the parameter's type, or not allowed.
        """
        flags = {"true": True, "false": False}
        try:
            if self.type is bool:
                return self.check(flags[text.strip().lower()])
            return self.check(self.type(text))
        except (KeyError, ValueError) as error:
            if isinstance(error, ParamError):
                raise
            wanted = "true or false" if self.type is bool else self.type.__name__
            raise ParamError(f"{self.name} = {text!r}: expected {wanted}") from None

    def _typed(self, value: object) -> Value:
        """Return the value if its type is right; an int may stand for a float."""
        if self.type is float and type(value) is int:
            value = float(value)
        if type(value) is not self.type:
            raise ParamError(
                f"{self.name} = {value!r}: expected {self.type.__name__}, "
                f"not {type(value).__name__}"
            )
        return value

    def _check_bounds(self, value: float) -> None:
        if not math.isfinite(value):
            raise ParamError(f"{self.name} = {value!r}: give a finite number")
        for sign, bound in self.bounds.items():
            words, is_within = {
                "ge": (f"{bound} or more", value >= bound),
                "le": (f"{bound} or less", value <= bound),
                "gt": (f"more than {bound}", value > bound),
                "lt": (f"less than {bound}", value < bound),
            }[sign]
            if not is_within:
                raise ParamError(f"{self.name} = {value!r}: must be {words}")


def param(
    default: V,
    *,
    ge: float | None = None,
    le: float | None = None,
    gt: float | None = None,
    lt: float | None = None,
    choices: Collection[V] | None = None,
    help: str = "",  # noqa: A002 - the word that authors know from argparse and click
) -> V:
    """Declare a setting that the owner can change in the configuration.

    The default gives the type (bool, int, float or str); `ge`, `le`, `gt`, `lt` and
    `choices` limit the value; `help` is shown to the owner.

    Raises:
        ParamError: the default has another type, or breaks its own limits.
    """
    bounds = {"ge": ge, "le": le, "gt": gt, "lt": lt}
    declared = Param(default, bounds=bounds, choices=choices, help_text=help)
    # The class attribute is a descriptor; what authors read from it is the value.
    return cast("V", declared)
