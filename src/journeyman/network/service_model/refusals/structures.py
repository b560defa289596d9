"""Where a structure has the place of a fault, and what is said of it."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from journeyman.domain.tasks import JSON
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.headers import OWN_HEADERS
from journeyman.network.json_text import UnreadableJSONError, parse
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.naming import FIRST, Path, value_at, words_of
from journeyman.network.service_model.notation import (
    MOST_LETTERS,
    NAME,
    from_python,
    in_short,
    rewritten,
)
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.refusals.faults import (
    MAX_DEPTH,
    MAX_FINDINGS,
    MAX_NODES,
    MAX_SAID,
    MAX_TEXT,
    Fault,
    FieldFault,
    below_method,
)
from journeyman.network.service_model.refusals.keys import (
    ASKED_TYPE_KEYS,
    BODY_KEYS,
    CODE_KEYS,
    CONTAINERS,
    FIELD_KEYS,
    KEYS,
    LANGUAGE_KEYS,
    LISTS,
    OF_FIELDS,
    OF_RULE,
    OF_THE_WHOLE,
    OPTION_KEYS,
    PART_KEYS,
    PARTS,
    POINTERS,
    PROSE_KEYS,
    RULES,
    SAYING_BESIDE_A_PLACE,
    SAYING_KEYS,
    SHOWN,
    TREE_KEYS,
)
from journeyman.network.service_model.refusals.sentences import (
    CHAIN,
    OBJECT_WITH,
    OF_NAMES,
    Prose,
    compared_with_example,
    is_name,
    path_of,
    path_of_header,
)
from journeyman.network.service_model.refusals.words import (
    BAD_TYPE,
    HUMPED,
    INVALID,
    ONLY_ONE,
    OPTION,
    STRICT,
    VERDICTS,
    fault_at,
    fault_in,
    listed_last,
    options_in,
    strings_in,
    type_of_word,
    wanted_type,
)
from journeyman.network.service_model.request import HEADER, QUERY, leaf_names

_QUOTED_LIST = LazyPattern(r'"[^"]{1,80}"(?:, ?"[^"]{1,80}")+')
"""Symfony has the values in one text, as `"text", "html"`."""

_NO_SUBJECT = any_case(
    r"(?:(?:this )?(?:field|value|property) )?"
    r"(?:is|was|must|should|can ?not|can't|may not|has to|needs to) \w"
)
"""A sentence that begins so is about the key that it stands under."""
_OF_ITS_FIELD = any_case(
    r"^(?:this |a )?(?:required |unknown |missing )?field\b|required field"
    r"|^required\W*$"
)


class Walk:
    """Goes through a body, within limits."""

    def __init__(self, sent: JSON, *, is_prose_read: bool) -> None:
        self._is_prose_read = is_prose_read
        self._sent = sent
        self._nodes = MAX_NODES
        self._letters = MOST_LETTERS
        self._prose = Prose(sent, is_prose_read=is_prose_read)
        self._names = leaf_names(sent)
        self._ours = {*strings_in(sent)}

    def findings(
        self, value: JSON, above: Path = (), *, fields: bool = False, depth: int = 0
    ) -> Iterator[FieldFault]:
        """Return what is said below a value.

        `fields` says that the names in an object are fields of ours.
        """
        self._nodes -= 1
        if depth > MAX_DEPTH or self._nodes < 0 or self._letters <= 0:
            return
        if isinstance(value, str):
            inner = unpacked(value)
            if inner is not None:
                yield from self.findings(inner, above, fields=fields, depth=depth + 1)
            else:
                yield from self._in_text(value, above)
        elif isinstance(value, list):
            for item in value:
                yield from self.findings(item, above, fields=fields, depth=depth + 1)
        elif isinstance(value, dict):
            told = _as_member(value)
            yield from self._in_any_object(told, above, fields=fields, depth=depth)

    def _in_text(self, value: str, above: Path) -> Iterator[FieldFault]:
        is_code = value.isupper() and " " not in value
        if is_code or (" " in value and value in self._ours):
            return  # neither is what we have written a word of theirs
        text = in_short(value)
        text = text[: min(MAX_TEXT, self._letters)]
        self._letters -= len(text)
        found = [*self._prose.findings(text, above)]
        is_judged = above[-1:] == (FIRST,) and INVALID.search(text)
        yield from found or ([fault_at(above, text)] if is_judged else [])

    def _in_any_object(
        self, value: dict[str, JSON], above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        for name in [one for one in value if spelling(one) in OF_FIELDS]:
            if isinstance(inner := value[name], dict):
                yield from self._by_field(inner, above, depth=depth)
                value = {key: one for key, one in value.items() if key != name}
        whole = value.get("_errors")
        if isinstance(whole, list) and len(texts_of(whole)) == len(whole):
            value = _as_tree(value)
        if _is_tree(value):
            yield from self._in_tree(value, above)
        elif fields and _is_of_codes(value):
            said = {(*above, *path_of(one)): str(value[one]) for one in value}
            yield from (fault_at(path, code) for path, code in said.items())
        else:
            yield from self._in_object(value, above, fields=fields, depth=depth)

    def _in_object(
        self, value: dict[str, JSON], above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        value = _as_parameters_of_ours(_filled_in(value), self._sent)
        value = _in_known_words(value, self._sent)
        # A text beside its language, as OData has it, is no field.
        fields = (fields or self._is_by_name(value)) and not _has_language(value)
        said = " ".join(sayings(value))[:MAX_SAID]
        self._letters -= len(said)
        tells = " " in said or not said.isascii() or _judges(said) or _points(value)
        tells = tells and not (fields and _is_of_lists_alone(value))
        is_around = has_parts(value)
        place = self._place_of(value) if tells and not is_around else None
        if tells and above and fields and place is None:
            place = ()  # it is said of the name above it
        scope = value.get("scope")  # Rails names the object whose names it lists
        within = path_of(scope) if isinstance(scope, str) and is_name(scope) else ()
        named = _listed_in_words(value, above) if self._is_prose_read else ()
        listed = [*_listed(value, (*above, *(place or within)), said, self._sent)]
        listed += named
        yield from listed
        if place is not None and not listed:
            begins = () if place and _is_from_the_root(value) else above
            told = self._at((*begins, *place), said, value)
            yield from map(_at_root, told) if _is_rooted(value) else told
        if place is not None or any(one.fault is not Fault.ALLOWED for one in listed):
            return
        if not tells:
            below = place_in(value, self._sent)
            above = (*above, *below) if below and has_parts(value) else above
        wants = _asked_type(value) if above else ""
        if wants and said:
            # MongoDB says below a name what is wrong with its value.
            yield FieldFault(above, Fault.TYPE, wants)
            return
        rest = {
            name: inner
            for name, inner in value.items()
            if not (listed and spelling(name) in LISTS)
            and not self._repeats(inner, above)
            and not _says_again(inner, value)
            and not (is_around and self._is_of_all(name, inner))
        }
        yield from self._in_members(rest, above, fields=fields, depth=depth)

    def _is_of_all(self, name: str, inner: JSON) -> bool:
        """Return whether a sentence beside a list of faults is of no field's."""
        is_sentence = isinstance(inner, str) and " " in inner
        return is_sentence and spelling(name) not in PROSE_KEYS | {*self._names}

    def _in_members(
        self, members: Mapping[str, JSON], above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        # ASP.NET tells of its method's own parameter besides the body's `$.task_id`.
        by_way = any(name == "$" or name.startswith("$.") for name in members)
        for name, inner in members.items():
            is_choice = isinstance(inner, list) and spelling(name) in OPTION_KEYS
            if is_choice and name not in self._names:
                continue  # of what is named elsewhere
            if name.startswith("$") or not by_way:
                yield from self._in_member(
                    name, inner, above, fields=fields, depth=depth
                )

    def _is_by_name(self, value: Mapping[str, JSON]) -> bool:
        """Return whether all that an object has are lists of what is said of names.

        One that was sent tells, so that a `status` beside it is a name, too.
        """
        is_of_lists = all(isinstance(one, list) and one for one in value.values())
        if not is_of_lists or any(value_at(self._sent, (one,)) for one in value):
            return is_of_lists
        said = [text for one in value.values() for text in texts_of(one)]
        is_of_fields = any(spelling(one) not in KEYS | BODY_KEYS for one in value)
        return is_of_fields and bool(said) and all(map(self._is_of_its_field, said))

    def _is_of_its_field(self, said: str) -> bool:
        """Return whether a sentence judges what it stands under, and names nothing."""
        is_judged = " " in said and bool(fault_in(said))
        return is_judged and not any(self._prose.findings(said))

    def _repeats(self, inner: JSON, above: Path) -> bool:
        """Return whether it is what was sent there, or a list of names that were."""
        listed = inner if isinstance(inner, list) else []
        is_ours = bool(above and inner) and inner == value_at(self._sent, above)
        return is_ours or (bool(listed) and self._names.issuperset(map(str, listed)))

    def _place_of(self, value: Mapping[str, JSON]) -> Path | None:
        """Find which field an object speaks about, in structure or in words."""
        place = place_in(value, self._sent)
        if place and place[1:] and place[-1] in OF_THE_WHOLE - self._names:
            place = place[:-1]  # a flattened `non_field_errors` of Django REST
        is_read = place is None and self._is_prose_read
        return _named_in_words(value) if is_read else place

    def _in_tree(self, tree: JSON, above: Path) -> Iterator[FieldFault]:
        """Read one of zod's trees, in which every name is a field, even `type`."""
        self._nodes -= 1
        if self._nodes < 0 or len(above) > MAX_DEPTH or not isinstance(tree, dict):
            return
        for said in texts_of(tree.get("errors")):
            prose = [*self._prose.findings(said, above)]
            inside = [one for one in prose if not above or _is_in(above, one, said)]
            yield from inside or ([fault_at(above, said)] if above else [])
        members = tree.get("properties")
        for name, inner in members.items() if isinstance(members, dict) else ():
            yield from self._in_tree(inner, (*above, name))
        items = tree.get("items")
        for inner in items if isinstance(items, list) else ():
            yield from self._in_tree(inner, (*above, FIRST))

    def _at(
        self, path: Path, said: str, value: Mapping[str, JSON]
    ) -> Iterator[FieldFault]:
        """Read an object that says something of a field, or of members inside of it."""
        path = _labelled(path, sayings(value))
        members = [
            one
            for sentence in sayings(value)
            for one in self._prose.in_object_with(sentence, path)
        ]
        if members:
            yield from members
            return
        prose = (
            one
            for sentence in sayings(value)
            if " " in sentence  # else a code, or a value that was received
            for one in self._prose.findings(sentence, path)
        )
        there = value_at(self._sent, path)
        is_object = isinstance(there, dict)
        clear = rewritten(said)
        inside = [one for one in prose if _is_in(path, one, clear, there)]
        if is_object and not inside and fault_in(said) is Fault.MISSING:
            # An object that is there lacks what is named beside it.
            names = (str(one) for one in _unsaid(value) if not _is_code(one))
            inside = [
                FieldFault((*path, one), Fault.MISSING) for one in names if is_name(one)
            ]
        yield from inside
        # An object with too much inside is not itself too much.
        if not inside and not (is_object and STRICT.search(said)):
            yield from self._of_itself(path, said, value)

    def _of_itself(
        self, path: Path, said: str, value: Mapping[str, JSON]
    ) -> Iterator[FieldFault]:
        """Read what an object says of a field as a whole."""
        found = self._judged(path, said)
        if found.fault is Fault.UNKNOWN:
            others = self._prose.findings(said, path[:-1])
            yield from (one for one in others if one.fault is Fault.ALLOWED)
        wants = _asked_type(value) or found.wants
        each = (fault_at(path, sentence).options for sentence in sayings(value))
        options = tuple(_listed_options(value, path[-1])) or found.options
        options = options or next(filter(None, each), ())
        fault = found.fault
        if fault in {Fault.TYPE, Fault.VALUE}:
            fault = Fault.TYPE if wants and not options else Fault.VALUE
        phrase = "" if options or fault is not Fault.VALUE else found.phrase
        place, form = found.path, found.form
        yield FieldFault(
            place,
            fault,
            wants,
            options,
            means=found.means,
            phrase=phrase,
            form=form,
        )

    def _judged(self, path: Path, said: str) -> FieldFault:
        """Return what is said of a field as said of its value, where that is quoted.

        As in "No such offer: 'of_12'". The words of a text of ours say nothing.
        """
        value, told = value_at(self._sent, path), said
        if isinstance(value, str) and " " in value and value != said:
            told = said.replace(value, "\u2026")
        found = fault_at(path, told)
        shown = f"{value}"
        is_long = len(shown) > 1 and shown in said
        is_quoted = is_long or any(f"{mark}{shown}{mark}" in said for mark in "\"'`")
        is_quoted = is_quoted and isinstance(value, str | int)
        if found.fault is Fault.UNKNOWN and is_quoted and "received" not in said:
            options = found.options or listed_last(told)
            return replace(found, fault=Fault.VALUE, options=options)
        return found

    def _in_member(
        self, name: str, inner: JSON, above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        spelled = spelling(name)
        if spelled in SHOWN and isinstance(inner, dict):
            yield from compared_with_example(inner, self._sent, ())
            return
        texts = inner if isinstance(inner, list) else [inner]
        is_said = bool(texts) and all(isinstance(text, str) for text in texts)
        said = " ".join(map(str, texts))[:MAX_SAID] if is_said else ""
        self._letters -= len(said)
        if is_said and above and name in OF_THE_WHOLE:
            yield fault_at(above, said)
            return
        if above and name.isdigit():
            yield from self._in_item(inner, (*above, FIRST), said, depth=depth)
            return
        # Rails says under `base` what is wrong with no field, but may name one.
        is_of_all = name in OF_THE_WHOLE and name not in self._names
        if (
            is_said
            and not is_of_all
            and self._is_field(name, inner, said, fields=fields)
        ):
            yield from self._said_of((*above, *path_of(name)), map(str, texts), said)
            return
        if fields and isinstance(inner, dict) and _is_of_rules(inner):
            yield fault_at((*above, *path_of(name)), " ".join(map(str, inner.values())))
            return
        there = value_at(self._sent, (*above, name))
        is_container = self._is_container(name, inner, there) and not (
            fields and self._is_judging(name, inner, there)
        )
        is_sent = isinstance(there, dict) or (there is not None and _is_of_lists(inner))
        is_object = isinstance(inner, dict)
        if fields and isinstance(inner, list):
            is_nested = _is_nested(inner)
            is_object = is_nested or (bool(inner) and all(map(self._is_saying, inner)))
            name = f"{name}.0" if is_nested and _is_of_items(inner, there) else name
        path = path_of(name) if is_name(name) else _label_of(name, fields=fields)
        if is_object and (fields or is_sent) and not is_container and path:
            above, fields = (*above, *path), True
        else:
            fields = is_object and (
                fields
                or is_container
                or _is_of_lists(inner)
                or self._is_by_saying(inner)
            )
        yield from self.findings(inner, above, fields=fields, depth=depth + 1)

    def _in_item(
        self, told: JSON, path: Path, said: str, *, depth: int
    ) -> Iterator[FieldFault]:
        """Read what is said of an item of a list, or of its members."""
        if said:
            yield from self._said_of(path, texts_of(told), said)
        else:
            yield from self.findings(told, path, fields=True, depth=depth + 1)

    def _is_judging(self, name: str, inner: JSON, there: JSON) -> bool:
        """Return whether an object says what is wrong with the field of this name."""
        is_coded = isinstance(there, dict) and _has_code(inner)
        return (spelling(name) in CODE_KEYS or is_coded) and self._is_saying(inner)

    def _is_container(self, name: str, inner: JSON, there: JSON) -> bool:
        """Return whether findings are below a member, which is no field of ours."""
        if isinstance(inner, list) and len(inner) == 1:
            (inner,) = inner  # as Cerberus has around the faults of an object
        if there is not None and isinstance(inner, dict) and {*inner} <= OF_THE_WHOLE:
            return False
        if not (isinstance(there, dict) and isinstance(inner, dict)):
            spelled = spelling(name)
            return spelled in CONTAINERS | PROSE_KEYS or "error" in spelled
        # Where it repeats our body, a word such as "data" is a field of it.
        told = inner.keys() - OF_THE_WHOLE
        is_again = any(one.startswith(f"{name}.") for one in told)
        return is_again or any(
            spelling(one) in KEYS
            and (isinstance(inner[one], str) or spelling(one) in CONTAINERS)
            for one in told
        )

    def _by_field(
        self, told: Mapping[str, JSON], above: Path, *, depth: int
    ) -> Iterator[FieldFault]:
        """Read an object that has nothing but names of ours, even a `message`."""
        for name, inner in told.items():
            said = texts_of(inner)
            if said and is_name(name):
                self._letters -= sum(map(len, said))
                whole = " ".join(said)[:MAX_SAID]
                yield from self._said_of((*above, *path_of(name)), said, whole)
            else:
                inside = {name: inner}
                yield from self.findings(inside, above, fields=True, depth=depth + 1)

    def _said_of(
        self, path: Path, texts: Iterable[str], said: str
    ) -> Iterator[FieldFault]:
        """Read what is said of a field, or of members inside of the object it is."""
        is_object = isinstance(value_at(self._sent, path), dict)
        again = (*path, path[-1])  # some tell of `pod.text` under `pod`, some of `text`
        inside = [
            replace(one, path=path + one.path[len(again) :])
            if one.path[: len(again)] == again and len(one.path) > len(again)
            else one
            for text in (map(in_short, texts) if is_object else ())
            for one in self._prose.findings(text, path)
            if one.fault in OF_NAMES and len(one.path) > len(path)
        ]
        yield from inside or [self._judged(path, said)]

    def _is_saying(self, item: JSON) -> bool:
        """Return whether an object says something, of a field named elsewhere."""
        if not isinstance(item, dict) or _is_of_lists_alone(item):
            return False
        return any(sayings(item)) and place_in(item, self._sent) is None

    def _is_by_saying(self, value: JSON) -> bool:
        """Return whether each member of an object says what is wrong with its name.

        As Toloka's `payload` does: `{"solutions": {"code": .., "message": ..}}`.
        """
        if not isinstance(value, dict) or CONTAINERS.issuperset(map(spelling, value)):
            return False
        return all(map(self._is_saying, value.values()))

    def _is_field(self, name: str, inner: JSON, said: str, *, fields: bool) -> bool:
        """Return whether a member says something of the field of ours that it names."""
        spelled = spelling(name)
        is_odd = "error" in spelled or spelled == "fullmessages"
        is_odd = is_odd or not is_name(".".join(path_of(name)))
        is_listed = isinstance(inner, list) and all(
            map(_NO_SUBJECT.match, texts_of(inner))
        )
        is_open = fields or is_listed or spelled not in KEYS | BODY_KEYS
        if is_odd or not is_open:
            return False
        if isinstance(inner, str):
            # A sentence: codes and names, such as "ZodError", say nothing of a field.
            is_coded = name in self._names and fault_in(said) and not said.isupper()
            is_sentence = " " in said.strip() or bool(is_coded)
            is_told = fault_in(said) or options_in(said) or ONLY_ONE.search(said)
            is_alone = is_told and not any(self._prose.findings(said))
            is_judged = bool(spelled in CODE_KEYS and is_alone)
            is_judged = is_judged or bool(_NO_SUBJECT.match(rewritten(said)))
            # What is said of a field stands under its name, even if that is `message`.
            is_judged = is_judged or bool(is_alone and _OF_ITS_FIELD.search(said))
            is_word = spelled in PROSE_KEYS and not is_judged
            is_word |= name not in self._names and _names_another(name, said)
            return fields and is_sentence and not is_word
        is_word = spelled in PROSE_KEYS | CONTAINERS and name not in self._names
        if fields and not (is_word and len(texts_of(inner)) > 1):
            return not is_word or fault_in(said) is not None
        told = [one.path[-1] for one in self._prose.findings(said)]
        told += [word for word in re.findall(NAME, said) if word in self._names]
        named = {*map(spelling, told)}
        if value_at(self._sent, (name,)) is not None:
            named &= {*map(spelling, self._names)}  # no other word is a name then
        is_of_others = bool(named - {spelled})  # the sentences say of which
        # Words that are no sentences say nothing.
        is_said = spelled not in CONTAINERS and any(
            " " in one for one in texts_of(inner)
        )
        return not is_of_others and (is_said or fault_in(said) is not None)


def _has_language(value: Mapping[str, JSON]) -> bool:
    """Return whether an object says in which language its text is (RFC 5646)."""
    told = (str(value.get(name, "")) for name in LANGUAGE_KEYS)
    return any(map(_LANGUAGE.fullmatch, told))


_LANGUAGE = LazyPattern(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_BLANK = LazyPattern(r"%(\w+)|\{\{? ?(\w+) ?\}?\}")
"""Where a sentence that is translated has room for a name, as Magento's have."""


def _filled_in(value: dict[str, JSON]) -> dict[str, JSON]:
    """Return an object whose sentences have the names that stand beside them."""
    inside = [one for one in value.values() if isinstance(one, dict)]
    named = {name: one for layer in inside for name, one in layer.items()}

    def fill(blank: re.Match[str]) -> str:
        name = named.get(blank[1] or blank[2])
        return name if isinstance(name, str) else blank[0]

    return {
        key: _BLANK.sub(fill, one[:MAX_TEXT]) if named and isinstance(one, str) else one
        for key, one in value.items()
    }


_CALLED_WITH = any_case(r"could not find the function [\w.]+\(((?:\w+, )*\w+)\)")
_OF_PARAMETERS = LazyPattern(r"[a-z]{0,5}_")


def _as_parameters_of_ours(value: dict[str, JSON], sent: JSON) -> dict[str, JSON]:
    """Return what is said of a function with the names under which we sent its values.

    What calls the function of a database hands `claim_id` on as `p_claim_id`, as many
    functions of PostgreSQL call their parameters, and PostgREST tells of those.
    """
    calls = filter(None, map(_CALLED_WITH.search, texts_of([*value.values()])))
    names = [name for call in calls for name in call[1].split(", ")]
    found = _OF_PARAMETERS.match(names[0]) if names else None
    if not (found and isinstance(sent, dict)) or not sent.keys().isdisjoint(names):
        return value
    if sent.keys().isdisjoint(name.removeprefix(found[0]) for name in names):
        return value
    prefix = re.compile(rf"\b{found[0]}(?=\w)")
    return {
        name: prefix.sub("", one) if isinstance(one, str) else one
        for name, one in value.items()
    }


def texts_of(value: JSON) -> list[str]:
    """Return the texts of a list of them."""
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, str)]


def _as_tree(formatted: Mapping[str, JSON], depth: int = 0) -> dict[str, JSON]:
    """Return what zod 3's `format` made as the tree that zod 4 makes."""
    inside: dict[str, JSON] = {
        FIRST if name.isdigit() else name: _as_tree(inner, depth + 1)
        for name, inner in formatted.items()
        if isinstance(inner, dict) and depth < MAX_DEPTH
    }
    return {"errors": formatted.get("_errors"), "properties": inside}


def _is_tree(value: Mapping[str, JSON]) -> bool:
    """Return whether it is what zod's treeifyError makes of an object's issues."""
    return isinstance(value.get("properties"), dict) and value.keys() <= TREE_KEYS


def _says_again(inner: JSON, around: Mapping[str, JSON]) -> bool:
    """Return whether a list has nothing but what is said around it.

    As Elasticsearch's `root_cause` does, which is no name.
    """
    items = inner if isinstance(inner, list) else []
    return bool(items) and all(
        isinstance(one, dict) and bool(one) and one.items() <= around.items()
        for one in items
    )


def _is_of_lists(value: JSON) -> bool:
    """Return whether an object has nothing but lists, as of what is said of fields."""
    if not isinstance(value, dict) or not KEYS.isdisjoint(map(spelling, value)):
        return False
    return all(isinstance(one, list) and one for one in value.values())


def _is_nested(told: list[JSON]) -> bool:
    """Return whether a list has what is said of the items of a list."""
    return bool(told) and all(
        isinstance(one, list) or _is_of_lists(one) for one in told
    )


def _is_of_items(told: list[JSON], there: JSON) -> bool:
    # Cerberus has a list around the faults of an object, too.
    return not isinstance(there, dict) and not _is_numbered(told)


def _is_numbered(told: list[JSON]) -> bool:
    """Return whether a list has objects whose members are named by their places."""
    return all(isinstance(one, dict) and all(map(str.isdigit, one)) for one in told)


def _is_of_lists_alone(value: Mapping[str, JSON]) -> bool:
    """Return whether all members are lists or objects: fields, whatever their names.

    Lists of sentences, that is: Play has `{"msg": ["error.path.missing"]}`.
    """
    is_of_lists = all(isinstance(one, list | dict) for one in value.values())
    said = (text for one in value.values() for text in texts_of(one))
    return bool(value) and is_of_lists and all(" " in text for text in said)


def _is_of_rules(value: Mapping[str, JSON]) -> bool:
    """Return whether an object says by rule what is wrong with a field.

    As CakePHP does: `{"_required": "This field is required"}`.
    """
    is_said = all(isinstance(one, str) and " " in one for one in value.values())
    is_named = any(one[:1] == "_" or spelling(one) in RULES for one in value)
    return is_said and is_named


def _names_another(name: str, said: str) -> bool:
    """Return whether a sentence under a plain word has a name that can be no word.

    As in `{"Sentence": "The form is incomplete: ReturnBy is wanting."}`.
    """
    if HUMPED.search(name) or name in said or _NO_SUBJECT.match(said):
        return False
    return any(map(HUMPED.search, re.findall(NAME, said)))


def _is_of_codes(value: Mapping[str, JSON]) -> bool:
    """Return whether an object has a word under each name for what is wrong there.

    As in `{"task": "missing-required-key", "note": "disallowed-key"}`.
    """
    known = KEYS | BODY_KEYS | {*FIELD_KEYS, *SAYING_KEYS}
    return bool(value) and all(
        isinstance(said, str)
        and " " not in said
        and is_name(name)
        and spelling(name) not in known
        and fault_in(said) is not None
        for name, said in value.items()
    )


def _has_code(told: JSON) -> bool:
    """Return whether a fault is told with a code, as in `{"code": "blank", ...}`."""
    code = told.get("code") if isinstance(told, dict) else None
    return isinstance(code, str) and " " not in code


def _labelled(path: Path, said: Iterable[str]) -> Path:
    """Return the way to what has two labels, as in "Comment: Body: cannot be blank"."""
    for told in filter(None, map(_LABELS.match, said)):
        if path and spelling(told[1]) == spelling(path[-1]):
            return (*path, "_".join(words_of(told[2])))
    return path


_LABELS = LazyPattern(r"([A-Z]\w*(?: \w+)?): ([A-Z]\w*(?: \w+)?): (?=\S)")


def _is_in(path: Path, found: FieldFault, said: str, there: JSON = None) -> bool:
    """Return whether a sentence about an object names a member of it.

    Perhaps one of the same name, if an object was sent `there`; but what is too much in
    it was sent in it.
    """
    name = found.path[-1]
    marks = rf"[`'\"\u201c]{re.escape(name)}[`'\"\u201d]"
    if isinstance(there, dict) and found.fault is Fault.MISSING:
        marks += rf"|: (?:\w+, )*{re.escape(name)}(?:, \w+)*$"
    is_quoted = re.search(marks, said)
    is_new = spelling(name) != spelling(path[-1])
    if isinstance(there, dict):
        is_new = is_new or found.fault is Fault.MISSING or name in there
    is_other = len(found.path) > len(path) and is_new
    is_told = found.fault in {Fault.MISSING, Fault.UNKNOWN} or bool(found.options)
    return is_told and is_other and bool(is_quoted)


_LIST_AT_END = LazyPattern(r"^[^\[{]{0,120}: (\[\s*\{.*\}\s*\])\W*$", re.DOTALL)


def unpacked(text: str) -> JSON:
    """Return the JSON that a text holds: some services encode their faults twice."""
    listed = _LIST_AT_END.search(text)
    if text.lstrip()[:1] not in {"[", "{"} and not listed:
        return None
    packed = (listed[1] if listed else text)[:MOST_LETTERS]
    try:
        return parse(packed)
    except UnreadableJSONError:
        return from_python(packed)


def _layers(value: Mapping[str, JSON], name: str) -> Iterator[Mapping[str, JSON]]:
    """Return an object that may be inside, and what is around it."""
    inner = value.get(name)
    if isinstance(inner, dict):
        yield inner
    yield value


def _listed(
    value: Mapping[str, JSON], above: Path, said: str, sent: JSON
) -> Iterator[FieldFault]:
    """Read lists of names: `{"missing": ["task_id"]}`, and ajv's `params`.

    Those have another name in LoopBack, and the same in them.
    """
    is_object = isinstance(value_at(sent, above), dict)
    # A sentence may tell more of them, as in "items[0] must be an object with a name".
    is_of_them = bool(said) and not OBJECT_WITH.search(said)
    worded = {"fields", "keys"} if is_of_them else set[str]()
    told = [inner for key, inner in value.items() if key in worded]
    named = [
        ".".join(place_in(name, None) or ()) if isinstance(name, dict) else str(name)
        for one in told
        if isinstance(one, list)
        for name in one
    ]
    for name in filter(is_name, named):
        yield fault_at((*above, *path_of(name)), said)
    keys = (
        key for key, one in value.items() if isinstance(one, dict) and _AJV & {*one}
    )
    for layer in _layers(value, next(keys, "params")):
        for key, inner in layer.items():
            is_worded = layer is value and key in worded
            fault = None if is_worded else LISTS.get(spelling(key))
            if spelling(key) == "keys" and not said:
                fault = Fault.ALLOWED  # hapi: what is wrong with them is told elsewhere
            if fault and spelling(key) in OF_RULE and not said:
                fault = Fault.ALLOWED
            names = inner if isinstance(inner, list) else [inner]
            if fault is not None and all(isinstance(name, str) for name in names):
                for name in filter(is_name, map(str, names)):
                    path = path_of(name)
                    is_again = not is_object and fault is Fault.MISSING
                    is_again = is_again and above[-len(path) :] == path
                    yield FieldFault(above if is_again else (*above, *path), fault)


_AJV = frozenset({"missingProperty", "additionalProperty"})


def _listed_in_words(value: Mapping[str, JSON], above: Path) -> Iterator[FieldFault]:
    """Read lists of names whose key says in words what is wrong: `left_blank`."""
    for key, inner in value.items():
        words = words_of(key)
        fault = fault_in(" ".join(words)) if len(words) > 1 else None
        names = inner if isinstance(inner, list) else []
        if fault in OF_NAMES and spelling(key) not in LISTS:
            texts = (one for one in names if isinstance(one, str) and is_name(one))
            yield from (FieldFault((*above, *path_of(one)), fault) for one in texts)


def _listed_options(value: Mapping[str, JSON], name: str) -> Iterator[str]:
    """Return the values that stand beside what is said of a name, whatever their key.

    Spring lists its own codes for a fault there, which have the name in them.
    """
    inside = [one for one in value.values() if isinstance(one, dict)]
    for key, inner in (pair for layer in (*inside, value) for pair in layer.items()):
        listed: Sequence[JSON] = inner if isinstance(inner, list) else [inner]
        if isinstance(inner, str) and _QUOTED_LIST.fullmatch(inner):
            listed = OPTION.findall(inner)
        is_list_of_one = isinstance(inner, list) and spelling(key) in ASKED_TYPE_KEYS
        is_listed = spelling(key) in OPTION_KEYS or len(listed) > 1 or is_list_of_one
        if is_listed and spelling(key) not in FIELD_KEYS and spelling(key) not in LISTS:
            texts = [one for one in listed if isinstance(one, str) and one]
            is_type = is_list_of_one and any(map(type_of_word, texts))
            is_own = is_type or any(name in one for one in texts)
            if len(texts) == len(listed) and not is_own:
                yield from texts


def _by_spelling(value: Mapping[str, JSON]) -> dict[str, JSON]:
    # `_tag` names a type of Effect, and says nothing.
    return {spelling(key): inner for key, inner in value.items() if key != "_tag"}


def sayings(value: Mapping[str, JSON]) -> Iterator[str]:
    """Return the words in which an object says what is wrong, the surest first."""
    told = _by_spelling(value)
    has_place = any(isinstance(told.get(key), str) for key in FIELD_KEYS)
    if "path" in told and told.keys().isdisjoint(SAYING_KEYS):
        told = {"code": told.get("name"), **told}  # as Contentful names what is wrong
    for key in (*SAYING_KEYS, *(SAYING_BESIDE_A_PLACE if has_place else ())):
        said = told.get(key)
        if isinstance(said, list):
            said = " ".join(one for one in said if isinstance(one, str))
        if isinstance(said, str):
            yield said
        elif isinstance(said, dict):
            yield " ".join([*said, *(v for v in said.values() if isinstance(v, str))])


def _is_code(value: JSON) -> bool:
    """Return whether a text is the code of an error, such as `F3`."""
    return isinstance(value, str) and value.isupper() and not value.isalpha()


def _unsaid(value: Mapping[str, JSON]) -> Iterator[JSON]:
    """Return what stands in an object that is neither words nor a place."""
    for key, inner in value.items():
        if spelling(key) not in {*SAYING_KEYS, *FIELD_KEYS} and not isinstance(
            inner, dict
        ):
            yield inner


def has_parts(value: Mapping[str, JSON]) -> bool:
    """Return whether an object has lists of what is wrong, which say where."""
    lists = [one for one in value.values() if isinstance(one, list)]
    inside = islice(chain.from_iterable(lists), MAX_FINDINGS)
    return any(_says(o) or _says_inside(o) for o in inside if isinstance(o, dict))


def _says_inside(value: Mapping[str, JSON]) -> bool:
    """Return whether an item has parts of its own, as class-validator's `children`."""
    lists = (one for one in value.values() if isinstance(one, list))
    inside = islice(chain.from_iterable(lists), MAX_FINDINGS)
    return any(isinstance(one, dict) and _says(one) for one in inside)


def _says(value: Mapping[str, JSON]) -> bool:
    return any(" " in said for said in sayings(value))


def _asked_type(value: Mapping[str, JSON]) -> str:
    """Return the type that an object says it wanted, itself or one below."""
    inside = [one for one in value.values() if isinstance(one, dict)]
    layers = [_by_spelling(layer) for layer in (value, *inside)]
    named = [layer.get(key) for layer in layers for key in ASKED_TYPE_KEYS]
    named += [layer.get("type") for layer in _layers(value, "params")][:-1]  # ajv
    if not _is_missed(value):  # or it is the schema of what is around it
        named += [_of_malli(layer.get("schema")) for layer in layers]
    told = (one for one in named if isinstance(one, str) and '"' not in one)
    return next(filter(None, map(type_of_word, told)), "")


def _is_missed(value: Mapping[str, JSON]) -> bool:
    return any(fault_in(one) is Fault.MISSING for one in sayings(value))


def _of_malli(schema: JSON) -> str:
    """Return the type in a schema of malli's, such as `[:map {:closed true} ...]`."""
    told = re.match(r"\[?:(\w+)", schema) if isinstance(schema, str) else None
    return told[1] if told else ""


def _judges(said: str) -> bool:
    """Return whether a word says what is wrong, as a whole sentence does."""
    return bool(fault_in(said) or BAD_TYPE.search(said) or wanted_type(said))


def _points(value: Mapping[str, JSON]) -> bool:
    """Return whether an object points to a place, and so is about nothing else."""
    return any(
        _by_spelling(layer).get(key)
        for layer in _layers(value, "source")
        for key in POINTERS
    )


_BESIDE_NO_PLACE = frozenset({"extensions", "locations", "timestamp", "httpStatus"})


def place_in(value: Mapping[str, JSON], sent: JSON) -> Path | None:
    """Find which field an object speaks about; None when it names none."""
    # GraphQL says with `path` where in its answer, Spring which address it was, tRPC
    # which procedure, and Micronaut which argument, where Jackson tells the whole way.
    no_path = not _BESIDE_NO_PLACE.isdisjoint(value)
    no_path = no_path or any(map(CHAIN.fullmatch, texts_of([*value.values()])))
    names = sent if isinstance(sent, dict) else {}
    for layer in map(_by_spelling, _layers(value, "source")):
        for key in FIELD_KEYS:
            named = layer.get(key)
            if not _may_be_place(key, named, names, is_answer=no_path):
                continue
            is_part = key in {"loc", "location"} and named in (["body"], "body")
            is_part |= named == ["body"] and "keyword" in layer  # ajv's, in Fastify
            is_body = value.get("source") == "body" and "data" not in names
            is_litestars = named == "data" and is_body
            is_whole = named == "/request" and "request" not in names  # Micronaut's
            is_body_whole = named == "/body" and not _is_missed(value)
            if is_body_whole or is_part or is_litestars or is_whole:
                return None  # the body as a whole
            is_way = isinstance(named, list)
            named = _joined(key, named)
            if not isinstance(named, str) or (is_verdict(named) and not is_way):
                continue
            if key == "property" and named.isdigit():
                return (FIRST,)  # class-validator, of an item of a list
            path = _in_body(path_of(named, names), layer, names)
            path = _whole_names(layer.get(key)) or path
            part = next(filter(_OUTSIDE.get, map(str, map(value.get, PART_KEYS))), "")
            path = (part, *path) if part and len(path) == 1 else path
            if is_name(".".join(path)) and not (key == "location" and named in PARTS):
                return path
    return None


def _whole_names(way: JSON) -> Path:
    """Return a way that is a list where, as in Clojure, a name has a stroke."""
    names = (
        [one for one in way if isinstance(one, str)] if isinstance(way, list) else []
    )
    return tuple(names) if any("/" in one for one in names) else ()


def _in_body(path: Path, violation: Mapping[str, JSON], names: Container[str]) -> Path:
    """Return a way without the method and the parameter that Hibernate begins it with.

    It does so where it shows the value; nothing in an object that was not sent has one.
    """
    is_sent = any(one in names for one in path[:1])
    is_of_method = not (is_sent or _INVALID_VALUES.isdisjoint(violation))
    return (below_method(path) if is_of_method else ()) or path


_INVALID_VALUES = frozenset({"invalidvalue", "rejectedvalue"})
_ADDRESSES = frozenset(one.path for one in ENDPOINTS)
"""Which stand under `path`, too, where an answer tells what was asked."""


def _joined(key: str, named: JSON) -> JSON:
    """Return a way that is a list of names as a text."""
    elements = named.get("elements") if isinstance(named, dict) else None
    if isinstance(elements, list):  # protovalidate's, as its JSON is written
        parts = [_by_spelling(one) for one in elements if isinstance(one, dict)]
        named = [one.get("fieldname") for one in parts]
    if not isinstance(named, list):
        return named
    begins = key == "loc" and named[:1] == ["body"]
    return ".".join(map(_part, named[begins:MAX_DEPTH]))


def is_verdict(named: str) -> bool:
    """Return whether a name is one of an error, such as `missing_field` of goa."""
    words = words_of(named)
    is_bare = len(words) > 1 and not {".", "/"} & {*named}
    is_of_verdicts = is_bare and VERDICTS.issuperset(words)
    return is_of_verdicts or named.endswith(("Error", "Exception"))


def _may_be_place(
    key: str, named: JSON, names: Container[str], *, is_answer: bool
) -> bool:
    """Return whether what stands under a key may be a way in our body.

    `is_answer`: a `path` is one in an answer, or an address, unless it begins with a
    name that was sent. And `where` something went wrong may be a part of the service.
    """
    if isinstance(named, str) and (named in _ADDRESSES or is_of_words(key, named)):
        return False
    if key == "path" and is_answer:
        return isinstance(named, list) and bool(named) and named[0] in names
    is_way = isinstance(named, str) and (named in names or "." in named)
    return key != "where" or is_way


def _as_member(value: dict[str, JSON]) -> dict[str, JSON]:
    """Return a pair of a name and a sentence as an object has them."""
    name = value.get("name")
    is_pair = value.keys() == {"name", "value"} and isinstance(name, str)
    is_said = is_pair and is_of_words("name", str(name))
    return {str(name): value["value"]} if is_said else value


def is_of_words(key: str, named: str) -> bool:
    """Return whether a sentence has that name: `{"name": "reason", "value": ...}`."""
    return key == "name" and spelling(named) in {"reason", "message", "error"}


def _named_in_words(value: Mapping[str, JSON]) -> Path | None:
    """Return a name of several words, under any key, that is told in plain ones, too.

    As in "Give the loan number first." beside `"at": "loan_number"`.
    """
    told = [word for said in sayings(value) for word in words_of(said)]
    for key, named in value.items():
        words = words_of(named) if isinstance(named, str) and is_name(named) else ()
        is_told = f" {' '.join(words)} " in f" {' '.join(told)} "
        if len(words) > 1 and is_told and spelling(key) not in PROSE_KEYS:
            return (str(named),)
    return None


def _in_known_words(value: dict[str, JSON], sent: JSON) -> dict[str, JSON]:
    """Return an object with known keys for a name and for what is said of it.

    In any language the one quotes the other: `{"camp": "seal", "missatge": "'seal'?"}`.
    """
    prose = [one for one in value.values() if isinstance(one, str) and " " in one]
    if _says(value) or len(prose) != 1:
        return value
    quoted = {*_QUOTED.findall(prose[0])}
    place = place_in(value, sent)
    named = [
        key for key, one in value.items() if isinstance(one, str) and one in quoted
    ]
    if place is None and (len(named) != 1 or not is_name(str(value[named[0]]))):
        return value
    told = {} if place is not None else {"field": value[named[0]]}
    return {**value, **told, "message": prose[0]}


_QUOTED = LazyPattern(r"(?<=['\"`])[^'\"`]+(?=['\"`])")


def _is_from_the_root(value: Mapping[str, JSON]) -> bool:
    """Return whether a place is told as a pointer, whatever is around it (RFC 6901)."""
    told = _by_spelling(value)
    return any(str(told.get(key, "")).startswith("/") for key in FIELD_KEYS)


def _is_rooted(value: Mapping[str, JSON]) -> bool:
    """Return whether a structure has the whole way to a field, as FastAPI has."""
    named = value.get("loc")
    return isinstance(named, list) and named[:1] == ["body"]


def _at_root(found: FieldFault) -> FieldFault:
    return replace(found, is_root=True)


_OUTSIDE = {"header": HEADER, "headers": HEADER, "query": QUERY, "querystring": QUERY}


def sent_outside(found: FieldFault, sent: JSON) -> FieldFault | None:
    """Return what is said of a part of the request that is not its body as said there.

    None: of a header that is the client's own.
    """
    part, *name = found.path
    if not name and "-" in part and part.lower() in OWN_HEADERS:
        part, name = "header", [part]
    prefix = _OUTSIDE.get(part.lower())
    if prefix is None or len(name) != 1 or (isinstance(sent, dict) and part in sent):
        return found
    is_header = prefix == HEADER
    path = path_of_header(name[0], found.wants) if is_header else (prefix + name[0],)
    return replace(found, path=path) if path else None


def _label_of(name: str, *, fields: bool) -> Path:
    return (name,) if fields and _LABEL.fullmatch(name) else ()


_LABEL = LazyPattern(r"[^\W\d]\w*(?: \w+){1,4}")
"""A field's name in a table of people's, as in "Expected On"."""


def _part(part: JSON) -> str:
    return str(part.get("key") if isinstance(part, dict) else part)
