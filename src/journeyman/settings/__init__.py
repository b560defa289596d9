"""Every knob of the daemon, with its unit, its default and its reason (design 9)."""

from journeyman.settings.load import Loaded, load_settings
from journeyman.settings.model import LogSettings, Settings, json_schema
from journeyman.settings.money import BudgetSettings, TopUpSettings
from journeyman.settings.sections import (
    DataSettings,
    NetworkSettings,
    ScheduleSettings,
    StrategySettings,
    WorkSettings,
)
from journeyman.settings.show import SettingRow, rows

__all__ = [
    "BudgetSettings",
    "DataSettings",
    "Loaded",
    "LogSettings",
    "NetworkSettings",
    "ScheduleSettings",
    "SettingRow",
    "Settings",
    "StrategySettings",
    "TopUpSettings",
    "WorkSettings",
    "json_schema",
    "load_settings",
    "rows",
]
