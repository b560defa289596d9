"""Every knob of the daemon, with its unit, its default and its reason (design 9)."""

from journeyman.settings.containment import ContainmentSettings
from journeyman.settings.contract import ContractSettings
from journeyman.settings.isolation import IsolationSettings
from journeyman.settings.load import Loaded, load_settings
from journeyman.settings.model import LogSettings, Settings, json_schema
from journeyman.settings.money import BudgetSettings, TopUpSettings
from journeyman.settings.pressure import PostingSettings, PressureSettings
from journeyman.settings.sections import (
    DataSettings,
    NetworkSettings,
    ScheduleSettings,
    StrategySettings,
    WorkSettings,
)
from journeyman.settings.show import SettingRow, rows
from journeyman.settings.tape import PromotionSettings, TapeSettings

__all__ = [
    "BudgetSettings",
    "ContainmentSettings",
    "ContractSettings",
    "DataSettings",
    "IsolationSettings",
    "Loaded",
    "LogSettings",
    "NetworkSettings",
    "PostingSettings",
    "PressureSettings",
    "PromotionSettings",
    "ScheduleSettings",
    "SettingRow",
    "Settings",
    "StrategySettings",
    "TapeSettings",
    "TopUpSettings",
    "WorkSettings",
    "json_schema",
    "load_settings",
    "rows",
]
