"""Shapes as JSON Schema (draft 2020-12, which OpenAPI 3.1 uses)."""

from journeyman.domain import JSON
from journeyman.network.observation import Shape

LEARNED = "x-learned"
"""Marks what the contract does not say; OpenAPI leaves names with `x-` to us."""

Schema = dict[str, JSON]


def schema_of(shape: Shape) -> Schema:
    """Describe the values that stood at one place; no value is in it.

    A field is required when it was in every object; an empty schema allows anything.
    """
    kinds = _kinds(shape)
    if not kinds:
        return {}
    schema: Schema = {"type": list(kinds) if len(kinds) > 1 else kinds[0]}
    if shape.fields:
        schema["properties"] = {
            name: schema_of(inner) for name, inner in sorted(shape.fields.items())
        }
        required = [n for n in sorted(shape.fields) if not shape.is_optional(n)]
        schema |= {"required": list(required)} if required else {}
    if shape.entries is not None:
        schema["additionalProperties"] = schema_of(shape.entries)
    if shape.items is not None:
        schema["items"] = schema_of(shape.items)
    return schema


def filled(shown: Schema, learned: Schema) -> Schema:
    """Give what the contract shows, with the fields that were seen beyond it.

    What is shown stays as it is. Where something else was seen, the mark says what.
    """
    if not learned:
        return shown
    known, seen = _properties(shown), _properties(learned)
    properties: dict[str, JSON] = {}
    for name in [*known, *(name for name in seen if name not in known)]:
        if name not in known:
            properties[name] = {**seen[name], LEARNED: True}
        elif name in seen and seen[name].get("type") != known[name].get("type"):
            properties[name] = {**known[name], LEARNED: seen[name]}
        else:
            properties[name] = known[name]
    merged = shown | ({"properties": properties} if properties else {})
    is_other = learned.get("type") != shown.get("type")
    return merged | ({LEARNED: {"type": learned.get("type")}} if is_other else {})


def _kinds(shape: Shape) -> list[str]:
    kinds = sorted(shape.kinds)
    # In JSON Schema every integer is a number, too.
    return [k for k in kinds if k != "integer"] if "number" in kinds else kinds


def _properties(schema: Schema) -> dict[str, Schema]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: one for name, one in properties.items() if isinstance(one, dict)}
