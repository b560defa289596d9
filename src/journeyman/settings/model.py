"""All settings in one frozen object, and its JSON schema."""

from typing import Literal

from pydantic import Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from journeyman.settings.choosing import ChoosingSettings
from journeyman.settings.containment import ContainmentSettings
from journeyman.settings.contract import ContractSettings
from journeyman.settings.isolation import IsolationSettings
from journeyman.settings.money import BudgetSettings, TopUpSettings
from journeyman.settings.pressure import PostingSettings, PressureSettings
from journeyman.settings.sections import (
    DataSettings,
    NetworkSettings,
    ScheduleSettings,
    Section,
    StrategySettings,
    WorkSettings,
)
from journeyman.settings.tape import PromotionSettings, TapeSettings

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class LogSettings(Section):
    """What the log looks like and how much it says."""

    format: Literal["auto", "json", "text"] = Field(
        "auto",
        description="`json` is one object a line, for machines. `text` is for people. "
        "`auto` is text on a terminal and json elsewhere.",
    )
    level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        description="The least that is logged. `info` tells the life of every task.",
    )


class Settings(BaseSettings):
    """Every knob of the daemon. Made by `load_settings`, which knows the sources."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, strict=True)

    network: NetworkSettings = NetworkSettings()
    contract: ContractSettings = ContractSettings()
    data: DataSettings = Field(default_factory=DataSettings)
    strategies: StrategySettings = StrategySettings()
    schedule: ScheduleSettings = ScheduleSettings()
    work: WorkSettings = WorkSettings()
    choosing: ChoosingSettings = ChoosingSettings()
    tape: TapeSettings = TapeSettings()
    promotion: PromotionSettings = PromotionSettings()
    containment: ContainmentSettings = ContainmentSettings()
    isolation: IsolationSettings = IsolationSettings()
    pressure: PressureSettings = PressureSettings()
    posting: PostingSettings = PostingSettings()
    budget: BudgetSettings = BudgetSettings()
    topup: TopUpSettings = TopUpSettings()
    log: LogSettings = LogSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read nothing behind the caller's back: `load_settings` hands sources in."""
        return (init_settings,)


def json_schema() -> dict[str, object]:
    """Give the schema of a configuration file (JSON Schema, draft 2020-12)."""
    schema = Settings.model_json_schema()
    for name in schema["properties"]:
        # The defaults are those of the single settings; repeated here they would
        # go stale in an editor's hints, and one depends on the home directory.
        schema["properties"][name].pop("default", None)
    schema["$schema"] = SCHEMA_DIALECT
    schema["title"] = "The settings of Journeyman"
    return schema
