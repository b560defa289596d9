"""Keys of refusals: where the place, the words, the options and the names stand.

They are written as `spelling` reduces them.
"""

from collections.abc import Mapping

from journeyman.network.service_model.naming import in_order, word_set
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.words import WEAK_NAMES

FIELD_KEYS = in_order(
    "loc path pointer instancepath datapath propertyname propertypath param parameter "
    "field property attribute attr name key fieldname failedfield member members "
    "location argument target element expression entry concerning where fld "
    "champ campo feld veld pole felt"
)
"""Where a vocabulary says which field it speaks about; the first that is there."""
BODY_KEYS = word_set("loc path pointer instancepath location")
"""Of them, those that begin with the part of the request."""
SAYING_KEYS = in_order(
    "type code keyword tag rule reason msg message detail error title description "
    "messages defaultmessage received constraints errormessage expected diagnostics "
    "say refused fault explanation problem issue"
)
"""Where it says what is wrong with it."""
SAYING_BESIDE_A_PLACE = in_order(
    "text txt libelle mensaje mensagem messaggio meldung melding komunikat opis motivo"
)
"""The same, but only where it says which field is meant: these may be fields."""
OPTION_KEYS = in_order(
    "options enum allowedvalue allowedvalues allowed accepted acceptedvalues permitted "
    "values const choices validvalues oneof expectedvalues supported"
)
"""Where it lists the values that it would take."""
LISTS: Mapping[str, Fault] = {
    name: fault
    for fault, names in {
        Fault.MISSING: "missing missingfields missingproperty missingproperties "
        "required requiredfields",
        Fault.UNKNOWN: "unknown unknownfields unexpected unexpectedfields extra "
        "unrecognized unrecognizedkeys additionalproperty additionalproperties keys",
        Fault.ALLOWED: "allowedfields knownfields didyoumean permitted"
        " permittedfields permittedparameters validfields acceptedfields",
    }.items()
    for name in names.split()
}
"""Where whole lists of names are."""
OF_RULE = frozenset({"required", "requiredfields"})
"""Of them, those that may list all that a rule asks for, and not what is missing."""
ASKED_TYPE_KEYS = word_set("bsontype expectedtype expected")
"""Where a structure has the type that is wanted, perhaps below what it says of it."""
CONTAINERS = word_set(
    "errors error detail details issues violations invalidparams validation "
    "validationerrors fielderrors fieldviolations messages json fields params "
    "invalid problems failures causes causedby body data extensions exception "
    "properties nested fullmessages "
    "fehler erreurs errores errori erros fouten bledy błędy virheet chyby hibák ошибки"
)
"""Under these are findings, and no field of ours."""
SHOWN = word_set(
    "example examples sample template usage shape expectedbody expectedformat "
    "expectedshape requiredbody expected"
)
"""Under these a body is shown that would do."""
OF_THE_WHOLE = word_set(
    "errors _errors non_field_errors nonFieldErrors __all__ _schema base"
)
"""Under these is what is said of the object around them, and of no field of it."""
TREE_KEYS = frozenset({"errors", "properties", "items"})
"""What zod's trees are made of."""
OF_FIELDS = word_set("fields fielderrors invalidfields")
"""Below these there is nothing but names of ours."""
CODE_KEYS = word_set("status type code summary title description reason hint")
"""Under these is a sentence only where they are names."""
LANGUAGE_KEYS = word_set("lang locale language")
"""Beside these is a text in that language."""
PROSE_KEYS = word_set(
    "message messages msg errormessage errordescription detail details error "
    "errors title hint reason description code status type exception say "
    "summary fullmessages"
)
"""Under these is prose."""
KEYS = PROSE_KEYS | (CONTAINERS - WEAK_NAMES)
"""Of these, those that are hardly names in a request."""
NEVER_SHOWN = KEYS | {"ok", "success"}
"""No body that is shown as an example has these."""
PARTS = frozenset({"body", "query", "params", "headers", "cookies"})
"""The parts of a request."""
RULES = word_set(
    "required integer string numeric boolean array inlist enum minlength maxlength "
    "notempty notempty isunique presence inclusion"
)
"""Names of rules, under which CakePHP says what each of them found."""
POINTERS = in_order("instancepath datapath pointer loc")
"""Of the keys of a place, those that have nothing but places."""
PART_KEYS = ("in", "location", "source")
"""Where a structure has the part of the request that it speaks about."""
