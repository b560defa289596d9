"""The settings about the half of the contract that is not shown: how we write."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, ValidationInfo, field_validator

from journeyman.settings.sections import Section

AUTO = "auto"

Table: TypeAlias = dict[str, JsonValue]
"""Where the values of one action go."""


# Few have dialects of their own, and the client is slow to import: PLC0415 below.


def _named(name: str) -> str:
    from journeyman.network import checked_name  # noqa: PLC0415  # see above

    return checked_name(name)


def _usable(tables: dict[str, Table]) -> dict[str, Table]:
    from journeyman.network import writing_dialect  # noqa: PLC0415  # see above

    writing_dialect("own", tables)
    return tables


Name: TypeAlias = Annotated[str, AfterValidator(_named)]
Dialect: TypeAlias = Annotated[dict[str, Table], AfterValidator(_usable)]
"""By action."""


class ContractSettings(Section):
    """How requests are written whose bodies the contract does not show."""

    dialects: dict[Name, Dialect] = Field(
        default_factory=dict,
        description="Shapes of your own, for a network that wants what none of the "
        "ready ones (`snake`, `camel`, `id-only`, `wrapped`) is. A table for each "
        "action: `[contract.dialects.NAME.claim]`; its fields are explained in "
        "docs/reference/dialect.md. They are tried before the ready ones.",
        examples=[{"acme": {"claim": {"task_id": "job.uuid"}}}],
    )
    dialect: str = Field(
        AUTO,
        description="The dialect that every action is written in. `auto` finds out by "
        "trying, and remembers what the network understood. With a name nothing is "
        "tried; an action that the named dialect does not describe is found out.",
    )
    max_candidates: int = Field(
        6,
        ge=1,
        le=50,
        description="How many shapes of one action the network may refuse in a day "
        "(UTC) before no more are tried. Enough for the ready dialects and two that "
        "are made of what the refusals say.",
        json_schema_extra={"unit": "shapes"},
    )

    @field_validator("dialect")
    @classmethod
    def _is_there(cls, name: str, info: ValidationInfo) -> str:
        own = info.data.get("dialects", {})
        if name == AUTO or name in own:
            return name
        from journeyman.network import READY  # noqa: PLC0415  # see above

        names = [AUTO, *(ready.name for ready in READY), *own]
        if name not in names:
            raise ValueError(f"names no dialect; wanted one of {', '.join(names)}")
        return name
