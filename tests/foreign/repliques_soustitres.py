"""A subtitling cooperative in Rennes: films, répliques, timecodes, all of it in French.

Two members wrote it for the others. It checks one thing after the other and says so in
French, with the name of the field and a motif; a field it does not know is refused, since
members used to misspell them. A subtitle is delivered with its timecodes; to close one, the
member says what becomes of the rights. Lists go on from the last number (`apres`).
"""
# mypy: ignore-errors

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_FILMS = [
    ("Le Phare d'en face", 1962, [
        ("00:01:12:04", "00:01:14:20", 9, "on ne voit plus la lampe"),
        ("00:01:15:02", "00:01:17:11", 12, "elle tourne, c'est toi qui dors"),
        ("00:04:40:00", "00:04:43:06", 7, "passe-moi le sel, capitaine"),
        ("00:09:03:17", "00:09:06:01", 15, "à marée basse, il est trop tard"),
    ]),
    ("Les Coquelicots", 1971, [
        ("00:00:51:10", "00:00:53:08", 11, "la porte grince encore"),
        ("00:02:22:13", "00:02:25:00", 14, "qui a fermé la fenêtre du grenier ?"),
        ("00:11:30:21", "00:11:33:19", 8, "demain, je vendrai la jument"),
    ]),
    ("Minuit à Vitré", 1954, [
        ("00:03:05:05", "00:03:07:22", 18, "l'horloge a sonné treize fois"),
        ("00:06:18:09", "00:06:20:14", 6, "rends-moi mon chapeau"),
        ("00:07:44:00", "00:07:47:12", 13, "personne n'a jamais vu ce notaire"),
    ]),
]  # fmt: skip
_PAGE = 4
_DROITS = ("cedes", "partages")
_GENRES = {str: "un texte", int: "un nombre entier", dict: "un objet"}


class _Refus(Exception):  # noqa: N818
    def __init__(
        self, statut: int, motif: str, champ: str | None, message: str
    ) -> None:
        super().__init__(message)
        erreur = {"motif": motif, "champ": champ, "message": message}
        self.response = Response(statut, {"erreur": erreur})


def _ou_refus(method: Any) -> Any:
    def run(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Refus as refus:
            return refus.response

    return run


def _lire(body: Any, wanted: dict[str, Any], at: str = "") -> None:
    """Check a body against the fields it is to have, and stop at the first mistake."""
    for name in body:
        if name not in wanted:
            known = ", ".join(wanted)
            words = f"Champ inconnu : {at}{name}. Champs admis : {known}."
            raise _Refus(400, "champ_inconnu", at + name, words)
    for name, kind in wanted.items():
        if name not in body or body[name] in (None, ""):
            words = f"Le champ {at}{name} est obligatoire."
            raise _Refus(400, "champ_absent", at + name, words)
        plain = dict if isinstance(kind, dict) else kind
        if type(body[name]) is not plain:
            words = f"Le champ {at}{name} doit être {_GENRES[plain]}."
            raise _Refus(400, "mauvais_type", at + name, words)
        if isinstance(kind, dict):
            _lire(body[name], kind, f"{at}{name}.")


class RepliquesSoustitres(Backend):
    """Répliques by number, a prise by code, rights to be settled at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.membres: dict[str, dict[str, Any]] = {}
        self.prises: dict[str, dict[str, Any]] = {}
        self.repliques: dict[int, dict[str, Any]] = {}
        for film, (titre, annee, lines) in enumerate(_FILMS):
            for n, (debut, fin, centimes, texte) in enumerate(lines):
                numero = 3100 + 200 * film + 11 * n
                self.repliques[numero] = {
                    "numero": numero,
                    "film": {"titre": titre, "annee": annee},
                    "tc_entree": debut,
                    "tc_sortie": fin,
                    "texte": texte,
                    "consigne": "Tout en capitales, accents compris.",
                    "cachet": {"centimes": centimes, "devise": "USD"},
                    "etat": "libre",
                }

    def texts(self) -> dict[str, str]:
        return {str(numero): row["texte"] for numero, row in self.repliques.items()}

    def missing(self, request: Request) -> Response:
        words = f"Rien à cette adresse : {request.path}"
        erreur = {"motif": "adresse_inconnue", "champ": None, "message": words}
        return Response(404, {"erreur": erreur})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        membre = {"agent_id": f"membre-{secrets.token_hex(3)}", "credits": 100}
        self.membres[token] = membre
        return Response(200, {**membre, "access_token": token})

    def _membre(self, request: Request) -> dict[str, Any]:
        if request.token not in self.membres:
            words = "Jeton absent ou inconnu de la coopérative."
            raise _Refus(401, "non_identifie", None, words)
        return self.membres[request.token]

    def _corps(self, request: Request, wanted: dict[str, Any]) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            words = "Le corps de la requête doit être un objet JSON."
            raise _Refus(400, "corps_illisible", None, words)
        _lire(body, wanted)
        return body

    @_ou_refus
    def tasks(self, request: Request) -> Response:
        """List what is free, from a number on."""
        self._membre(request)
        apres = request.query.get("apres", "0")
        if not apres.isdigit():
            words = "Le paramètre apres doit être un nombre entier."
            raise _Refus(400, "mauvais_type", "apres", words)
        libres = [
            row for row in self.repliques.values()
            if row["etat"] == "libre" and row["numero"] > int(apres)
        ]  # fmt: skip
        page = libres[:_PAGE]
        suite = page[-1]["numero"] if len(libres) > _PAGE else None
        suivante = f"{request.base}{request.path}?apres={suite}" if suite else None
        return Response(
            200,
            {"repliques": page, "restantes": len(libres), "page_suivante": suivante},
        )

    @_ou_refus
    def marketplace(self, request: Request) -> Response:
        """Say to the public which films are being worked on."""
        films = [{"titre": titre, "annee": annee} for titre, annee, _ in _FILMS]
        return Response(200, {"films_en_cours": films})

    @_ou_refus
    def claim(self, request: Request) -> Response:
        """Let a member take a réplique."""
        membre = self._membre(request)
        body = self._corps(request, {"numero": int, "membre": str})
        if body["membre"] != membre["agent_id"]:
            words = (
                f"Ce jeton est celui de {membre['agent_id']}, pas de {body['membre']}."
            )
            raise _Refus(403, "autre_membre", "membre", words)
        row = self.repliques.get(body["numero"])
        if row is None:
            words = f"La réplique {body['numero']} n'existe pas."
            raise _Refus(404, "introuvable", "numero", words)
        if row["etat"] != "libre":
            words = (
                f"La réplique {row['numero']} n'est plus libre (état : {row['etat']})."
            )
            raise _Refus(409, "deja_prise", "numero", words)
        row["etat"] = "prise"
        self.book.claimed(str(row["numero"]))
        code = f"PR{secrets.token_hex(4)}"
        self.prises[code] = {
            "code_prise": code,
            "replique": row,
            "membre": membre["agent_id"],
        }
        return Response(200, self.prises[code])

    def _prise(self, membre: dict[str, Any], code: str) -> dict[str, Any]:
        prise = self.prises.get(code)
        if prise is None:
            words = f"Aucune prise ne porte le code {code}."
            raise _Refus(404, "introuvable", "code_prise", words)
        if prise["membre"] != membre["agent_id"]:
            words = f"La prise {code} appartient à un autre membre."
            raise _Refus(403, "autre_membre", "code_prise", words)
        return prise

    @_ou_refus
    def submit(self, request: Request) -> Response:
        """Take delivery of a subtitle."""
        membre = self._membre(request)
        sous_titre = {"tc_entree": str, "tc_sortie": str, "texte": str}
        wanted = {"code_prise": str, "sous_titre": sous_titre}
        body = self._corps(request, wanted)
        row = self._prise(membre, body["code_prise"])["replique"]
        if row["etat"] != "prise":
            words = f"Cette réplique est déjà {row['etat']}."
            raise _Refus(409, "deja_rendue", "code_prise", words)
        given = body["sous_titre"]
        for name in ("tc_entree", "tc_sortie"):
            if given[name] != row[name]:
                words = (
                    f"{name} ne correspond pas à la réplique (attendu : {row[name]})."
                )
                raise _Refus(422, "timecode", f"sous_titre.{name}", words)
        if given["texte"].strip() != row["texte"].upper():
            words = "Le texte n'est pas celui de la réplique en capitales."
            raise _Refus(422, "texte_refuse", "sous_titre.texte", words)
        row["etat"] = "rendue"
        return Response(200, self.prises[body["code_prise"]])

    @_ou_refus
    def complete(self, request: Request) -> Response:
        """Close the prise and pay the cachet."""
        membre = self._membre(request)
        body = self._corps(request, {"code_prise": str, "droits": str})
        if body["droits"] not in _DROITS:
            words = f"droits vaut l'un de : {', '.join(_DROITS)}."
            raise _Refus(400, "valeur_refusee", "droits", words)
        prise = self._prise(membre, body["code_prise"])
        row = prise["replique"]
        if row["etat"] == "prise":
            words = "Le sous-titre n'a pas encore été rendu."
            raise _Refus(409, "pas_rendue", "code_prise", words)
        if row["etat"] == "reglee":
            words = "Le cachet de cette réplique est déjà réglé."
            raise _Refus(409, "deja_reglee", "code_prise", words)
        row["etat"], prise["droits"] = "reglee", body["droits"]
        centimes = row["cachet"]["centimes"]
        self.book.pay(str(row["numero"]), centimes)
        membre["credits"] += centimes
        return Response(
            200, {**prise, "verse": row["cachet"], "solde": membre["credits"]}
        )
