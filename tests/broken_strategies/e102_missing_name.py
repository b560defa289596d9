from journeyman import Strategem
