"""The foreign networks once more, with refusals in words that nobody has heard.

What says that something is missing, too much or wrong is put into words of no language,
as another author would have chosen other ones; names, values, types, structures and
statuses stay. On how many networks the daemon earns then tells how much of what it
understands it owes to a list of words, and how much to what stands where, to what it
has tried and to what has helped.

    make foreign-unheard
    make foreign-unheard NETWORKS="axum rails"
"""

import json
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response
from tests.foreign.drawn_trials import DrawnTrial
from tests.foreign.networks import NETWORKS, module_of, network_named
from tests.foreign.simulated import simulate_on
from tests.foreign.trial import LONGEST_SECONDS, report
from tests.simulation.virtual_time import Timeline, simulated_in

from journeyman.network.service_model.naming import word_set

LEAST_EARNED = 440
"""On so many of all networks the daemon has to earn.

A number and no share: a network that is added may be harder than those before it, and
would hide, or be blamed for, one that is lost.
"""
UNHEARD = word_set(
    "unknown unrecognized unrecognised unexpected unpermitted unsupported "
    "additional extra allowed permitted disallowed prohibited missing required "
    "requires require undefined mandatory blank null empty need needs needed must "
    "should present provided supplied given include provide contain specify "
    "specified have send sent invalid valid expected expect expects options "
    "choose cannot not is are be was of one field fields property properties key "
    "keys parameter attribute recognized supported exist exists absent malformed "
    "incorrect failed please"
)
"""What frameworks and people say in refusals, whatever the field."""
_ANY = "|".join(sorted(UNHEARD, key=len, reverse=True))
_WORD = re.compile(rf"(?<![A-Za-z])(?:{_ANY})(?![A-Za-z])", re.IGNORECASE)
_OF_A_CODE = re.compile(
    rf"(?<=[a-z])(?:{'|'.join(one.capitalize() for one in UNHEARD if len(one) > 4)})"
    r"(?![a-z])"
)
"""As in `NotEmptyValidator` and `fieldRequired`."""
_ROTATED = str.maketrans(
    "aeioubcdfghjklmnpqrstvwxyzAEIOUBCDFGHJKLMNPQRSTVWXYZ",
    "eiouacdfghjklmnpqrstvwxyzbEIOUACDFGHJKLMNPQRSTVWXYZB",
)


def reworded(said: str) -> str:
    """Return a sentence, or a code, in words that nobody has heard."""
    for words in (_WORD, _OF_A_CODE):
        said = words.sub(lambda word: word[0].translate(_ROTATED), said)
    return said


def reworded_in(value: Any) -> Any:
    """Return a body with its sentences reworded; what stands under keys stays there."""
    if isinstance(value, dict):
        return {key: reworded_in(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [reworded_in(one) for one in value]
    if not isinstance(value, str):
        return value
    if value[:1] in {"{", "["}:
        try:
            return json.dumps(reworded_in(json.loads(value)))
        except ValueError:
            pass
    return reworded(value)


class Unheard(Backend):
    """A network that refuses bodies in words of its own."""

    def __init__(self, network: Backend) -> None:
        super().__init__()
        self._network = network
        self.book, self.settings = network.book, network.settings

    def texts(self) -> dict[str, str]:
        return self._network.texts()

    def handle(self, request: Request) -> Response:
        answer = self._network.handle(request)
        action = ACTIONS.get((request.method, request.path))
        if action not in {"claim", "submit", "complete"} or not answer.is_refusal:
            return answer
        body = answer.body
        if isinstance(body, bytes):
            return replace(answer, body=reworded_in(body.decode()).encode())
        return replace(answer, body=reworded_in(body))


def try_unheard(name: str) -> DrawnTrial:
    """Run a daemon on a network that nobody has heard, until all is paid."""
    timeline = Timeline()
    with (
        simulated_in(module_of(name), timeline),
        tempfile.TemporaryDirectory() as directory,
    ):
        network = Unheard(network_named(name))
        trial = simulate_on(network, Path(directory), timeline, LONGEST_SECONDS)
    return DrawnTrial(0, name, trial)


def main(names: list[str]) -> int:
    """Try these networks, or all; return 1 where one, or too many, are not earned on."""
    if unknown := sorted({*names} - {*NETWORKS}):
        print(f"no such network: {', '.join(unknown)}", file=sys.stderr)
        return 2
    tried = []
    for name in names or NETWORKS:
        tried.append(one := try_unheard(name))
        if not one.is_earned:
            print(report(name, one.trial), flush=True)
    earned = sum(one.is_earned for one in tried)
    share = earned / len(tried)
    print(f"unheard: earned on {earned} of {len(tried)} networks ({share:.1%})")
    return 0 if earned >= (len(names) or LEAST_EARNED) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
