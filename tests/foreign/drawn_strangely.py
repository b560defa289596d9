"""Networks drawn at random that are stranger than those of `drawn`.

Nothing that somebody has read of networks helps here: what is meant can only be found by
what stands where, what differs, and what a trial shows.
"""

from tests.foreign.drawn import PLACED, Drawn, Packer, Wording, cased

NO_WORDS_BARE = {
    "nonsense": Wording("vlork spab", "mimsy tove", "wabe {t}", "gyre {o}"),
    "codes": Wording("E17", "E18", "E19", "E20 {o}"),
    "numbers": Wording("1001", "1002", "1003", "1004 {o}"),
}
NO_WORDS_WHOLE = {
    "sentence": Wording(
        "vlork {n} spab", "mimsy {n} tove", "{n} wabe {t}", "{n} gyre {o}"
    ),
    "colon": Wording(
        "{p}: borogove", "{p}: outgrabe", "{p}: rath {t}", "{p}: frumious {o}"
    ),
    "quotes": Wording(
        "Slithy '{p}' toves.",
        "Brillig '{p}' raths.",
        "Mome '{p}' {t}.",
        "Uffish '{p}' {o}.",
    ),
}
"""Wordings in no language: names, types and values stand in them, and no other word."""
NO_WORDS_PLACED: dict[str, Packer] = {
    "pairs": lambda told: {"zub": [{"florp": f.way, "snark": s} for f, s in told]},
    "top pairs": lambda told: [{"florp": f.way, "snark": s} for f, s in told],
    "ways": lambda told: {"zub": [{"florp": [*f.path], "snark": s} for f, s in told]},
    "texts by name": lambda told: {"zub": {f.way: s for f, s in told}},
    "lists by name": lambda told: {"zub": 7, "glim": {f.way: [s] for f, s in told}},
    "tuples": lambda told: {"zub": [[f.way, s] for f, s in told]},
    **PLACED,
}
"""Forms under keys that nobody knows, besides those of frameworks."""


class DrawnWithoutWords(Drawn):
    """A network that refuses in no language that anybody knows."""

    bare = NO_WORDS_BARE
    whole = NO_WORDS_WHOLE
    placed = NO_WORDS_PLACED


FINNISH = dict(
    pair.split("=")
    for pair in [
        "task=tehtava",
        "job=urakka",
        "gig=keikka",
        "bounty=palkkiojahti",
        "quest=retki",
        "ticket=lippu",
        "order=tilaus",
        "assignment=toimeksianto",
        "mission=komennus",
        "work=tyo",
        "item=kohde",
        "listing=ilmoitus",
        "errand=asia",
        "text=teksti",
        "input=syote",
        "content=sisalto",
        "body=runko",
        "source=lahde",
        "phrase=lause",
        "prompt=kehote",
        "payload=kuorma",
        "data=tieto",
        "result=tulos",
        "output=tuotos",
        "answer=vastaus",
        "response=vaste",
        "solution=ratkaisu",
        "deliverable=suorite",
        "submission=toimitus",
        "claim=varaus",
        "lease=vuokra",
        "reservation=paikka",
        "lock=lukko",
        "delivery=lahetys",
        "attempt=yritys",
        "agent=tekija",
        "worker=tyolainen",
        "claimed=varannut",
        "by=kuka",
        "user=kayttaja",
        "reward=palkkio",
        "credits=pisteet",
        "price=hinta",
        "payout=maksu",
        "pay=liksa",
        "title=otsikko",
        "name=nimi",
        "subject=aihe",
        "summary=tiivistelma",
        "headline=paaotsikko",
        "instructions=ohje",
        "description=kuvaus",
        "details=lisatiedot",
        "brief=ohjeistus",
        "todo=tekemista",
        "status=tila",
        "ref=viite",
        "notes=huomiot",
        "format=muoto",
        "confirmed=vahvistettu",
        "completion=valmistuminen",
        "created=luotu",
        "at=aika",
        "message=viesti",
        "eta=arvio",
        "minutes=minuutit",
        "accept=hyvaksy",
        "terms=ehdot",
        "confidence=varmuus",
        "metadata=metatieto",
        "type=tyyppi",
        "expires=paattyy",
        "request=pyynto",
        "attributes=maareet",
    ]
)
"""Words of names; whether they are good Finnish matters to nobody."""


class DrawnInFinnish(Drawn):
    """A network whose names are in a language that the daemon has no word of."""

    def write(self, name: str) -> str:
        return cased(_in_finnish(name), self.case)

    def show(self, name: str) -> str:
        return cased(_in_finnish(name), self.listing_case)


def _in_finnish(name: str) -> str:
    return "_".join(FINNISH.get(word, word) for word in name.split("_"))


class DrawnStrangely(DrawnInFinnish, DrawnWithoutWords):
    """A network that is both."""
