"""A stonemason's workshop, in French: inscriptions for stones, cut in capitals.

An in-house interface. Each refusal names one fault: {"erreur": {code, champ, libelle}}.
Fields it does not know are refused, with those it does know. The order is paid when it
is delivered (complete).
"""

import re
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_COMMANDES = [
    ("G-2291", "Famille Le Goff", "Quimper", "À notre mère bien-aimée, 1931-2019", 14),
    ("G-2294", "Mairie de Saulieu", "Saulieu", "La commune à ses enfants", 22),
    ("G-2297", "Étude Marchand", "Beaune", "Ici vécut le poète Aloysius Bertrand", 31),
    ("G-2302", "Famille Roussel", "Dole", "Le temps passe, le souvenir reste", 12),
    ("G-2303", "Paroisse Saint-Rémi", "Troyes", "Pierre posée le 4 août 1877", 18),
    ("G-2310", "Famille Nguyen", "Dijon", "Repose en paix, cher grand-père", 16),
    ("G-2315", "Lycée Carnot", "Dijon", "Aux élèves tombés en 1944", 27),
]
_PAR_PAGE = 5
_CHEMIN = "/functions/v1/get-marketplace-tasks"


class _RefusError(Exception):
    def __init__(
        self, statut: int, code: str, libelle: str, champ: str | None = None
    ) -> None:
        super().__init__(libelle)
        erreur: dict[str, Any] = {"code": code, "libelle": libelle}
        if champ:
            erreur["champ"] = champ
        self.reponse = Response(statut, {"erreur": erreur})


def _jour(jour: date) -> str:
    return jour.strftime("%d/%m/%Y")


class Marbrerie(Backend):
    """The workshop's order book."""

    def __init__(self) -> None:
        super().__init__()
        aujourdhui = datetime.now(UTC).date()
        self._graveurs: dict[str, dict[str, Any]] = {}
        self._bons: dict[str, dict[str, Any]] = {}
        self._commandes: dict[str, dict[str, Any]] = {
            numero: {
                "numero": numero,
                "etat": "à prendre",
                "client": {"nom": nom, "commune": commune},
                "travail": {
                    "consigne": "Composer l'inscription en capitales, accents compris, "
                    "sans rien changer d'autre.",
                    "inscription": texte,
                },
                "remuneration": {"montant": montant, "unite": "crédits"},
                "echeance": _jour(aujourdhui + timedelta(days=10 + rang)),
            }
            for rang, (numero, nom, commune, texte, montant) in enumerate(_COMMANDES)
        }

    def texts(self) -> dict[str, str]:
        """Return the inscription of every order by its number."""
        return {numero: texte for numero, _, _, texte, _ in _COMMANDES}

    def missing(self, request: Request) -> Response:
        """Refuse a path that the workshop does not serve."""
        return _RefusError(
            404, "ADRESSE_INCONNUE", "Cette adresse n'est pas desservie."
        ).reponse

    def handle(self, request: Request) -> Response:
        """Answer in the charset that the workshop writes."""
        reponse = super().handle(request)
        reponse.headers["Content-Type"] = "application/json; charset=utf-8"
        return reponse

    def register(self, request: Request) -> Response:
        """Take an engraver on."""
        self.book.registrations += 1
        matricule = f"graveur-{self.book.registrations:04d}"
        jeton = secrets.token_hex(20)
        self._graveurs[jeton] = {"matricule": matricule, "solde": 100}
        fiche = {"agent_id": matricule, "access_token": jeton, "credits": 100}
        return Response(200, {**fiche, "qualite": "compagnon"})

    def tasks(self, request: Request) -> Response:
        """List the orders, five at most at a time."""
        try:
            limite = self._nombre(request, "limit", _PAR_PAGE, 1)
            depuis = self._nombre(request, "depuis", 0, 0)
        except _RefusError as refus:
            return refus.reponse
        limite = min(limite, _PAR_PAGE)
        toutes = list(self._commandes.values())
        fin = depuis + limite
        suite = f"{_CHEMIN}?limit={limite}&depuis={fin}" if fin < len(toutes) else None
        page = {"commandes": toutes[depuis:fin], "total": len(toutes), "suite": suite}
        return Response(200, page)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Hand an order to an engraver, with a work slip."""
        try:
            graveur = self._graveur(request)
            corps = self._corps(request, "numero", "date_rendu")
            numero = corps["numero"]
            commande = self._commandes.get(numero)
            if commande is None:
                libelle = f"Aucune commande ne porte le numéro « {numero} »."
                raise _RefusError(404, "COMMANDE_INCONNUE", libelle, "numero")
            self._date_rendu(corps["date_rendu"], commande["echeance"])
            if commande["etat"] != "à prendre":
                etat = commande["etat"]
                libelle = f"La commande {numero} n'est plus à prendre (état : {etat})."
                raise _RefusError(409, "COMMANDE_INDISPONIBLE", libelle)
        except _RefusError as refus:
            return refus.reponse
        bon = {
            "bon_numero": f"BT-{417 + len(self._bons):05d}",
            "numero": numero,
            "graveur": graveur["matricule"],
            "etat": "en cours",
            "date_rendu": corps["date_rendu"],
        }
        self._bons[bon["bon_numero"]] = bon
        commande["etat"] = "prise"
        self.book.claimed(numero)
        return Response(200, {"bon": bon})

    def submit(self, request: Request) -> Response:
        """Read an engraver's proof."""
        try:
            graveur = self._graveur(request)
            corps = self._corps(request, "bon_numero", "inscription_composee")
            bon = self._bon(corps["bon_numero"], graveur)
            self._etat(bon, "en cours")
            texte = self._commandes[bon["numero"]]["travail"]["inscription"]
            if corps["inscription_composee"] != texte.upper():
                raise _RefusError(
                    422,
                    "EPREUVE_NON_CONFORME",
                    "L'épreuve n'est pas conforme : l'inscription de la commande doit "
                    "être composée en capitales, à l'identique.",
                    "inscription_composee",
                )
        except _RefusError as refus:
            return refus.reponse
        bon["etat"] = "épreuve acceptée"
        return Response(
            200,
            {"bon": bon, "avis": "Épreuve acceptée, la livraison reste à déclarer."},
        )

    def complete(self, request: Request) -> Response:
        """Take the delivery and pay."""
        try:
            graveur = self._graveur(request)
            corps = self._corps(request, "bon_numero", "observations")
            bon = self._bon(corps["bon_numero"], graveur)
            self._etat(bon, "épreuve acceptée")
        except _RefusError as refus:
            return refus.reponse
        commande = self._commandes[bon["numero"]]
        montant = commande["remuneration"]["montant"]
        bon["etat"] = "soldé"
        commande["etat"] = "livrée"
        graveur["solde"] += montant
        self.book.pay(bon["numero"], montant)
        reglement = {"montant": montant, "solde": graveur["solde"]}
        return Response(200, {"bon": bon, "reglement": reglement})

    def _graveur(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _RefusError(
                401, "JETON_ABSENT", "Veuillez présenter votre jeton d'accès."
            )
        if request.token not in self._graveurs:
            raise _RefusError(
                401, "JETON_INCONNU", "Ce jeton d'accès n'est pas reconnu."
            )
        return self._graveurs[request.token]

    def _corps(self, request: Request, *champs: str) -> dict[str, str]:
        try:
            corps = request.json()
        except ValueError:
            libelle = "Le corps de la demande est illisible."
            raise _RefusError(400, "JSON_ILLISIBLE", libelle) from None
        if not isinstance(corps, dict):
            raise _RefusError(400, "OBJET_ATTENDU", "Le corps doit être un objet JSON.")
        for champ in corps:
            if champ not in champs:
                libelle = f"Le champ « {champ} » n'est pas admis. Champs admis : "
                libelle += f"{', '.join(champs)}."
                raise _RefusError(400, "CHAMP_NON_ADMIS", libelle, champ)
        for champ in champs:
            if corps.get(champ) in (None, ""):
                libelle = f"Le champ « {champ} » est obligatoire."
                raise _RefusError(400, "CHAMP_OBLIGATOIRE", libelle, champ)
            if not isinstance(corps[champ], str):
                libelle = f"Le champ « {champ} » doit être du texte."
                raise _RefusError(400, "TYPE_INCORRECT", libelle, champ)
        return corps

    def _date_rendu(self, valeur: str, echeance: str) -> None:
        try:
            if not re.fullmatch(r"\d\d/\d\d/\d{4}", valeur):
                raise ValueError(valeur)
            rendu, terme = (
                date(*map(int, reversed(jour.split("/"))))
                for jour in (valeur, echeance)
            )
        except ValueError:
            libelle = "La date de rendu doit être une date au format JJ/MM/AAAA."
            raise _RefusError(400, "DATE_INCORRECTE", libelle, "date_rendu") from None
        if not datetime.now(UTC).date() <= rendu <= terme:
            libelle = (
                f"La date de rendu doit être comprise entre le {_jour(datetime.now(UTC).date())} "
                f"et l'échéance de la commande ({echeance})."
            )
            raise _RefusError(422, "DATE_HORS_DELAI", libelle, "date_rendu")

    def _bon(self, numero: str, graveur: dict[str, Any]) -> dict[str, Any]:
        bon = self._bons.get(numero)
        if bon is None or bon["graveur"] != graveur["matricule"]:
            libelle = f"Aucun bon de travail « {numero} » à votre nom."
            raise _RefusError(404, "BON_INCONNU", libelle, "bon_numero")
        return bon

    def _etat(self, bon: dict[str, Any], voulu: str) -> None:
        if bon["etat"] != voulu:
            raise _RefusError(
                409,
                "ETAT_INCOMPATIBLE",
                f"Le bon {bon['bon_numero']} est à l'état « {bon['etat']} » ; "
                f"l'état « {voulu} » est requis.",
            )

    def _nombre(self, request: Request, nom: str, defaut: int, minimum: int) -> int:
        valeur = request.query.get(nom, str(defaut))
        if not re.fullmatch(r"[0-9]{1,6}", valeur) or int(valeur) < minimum:
            libelle = (
                f"Le paramètre « {nom} » doit être un entier supérieur ou égal à "
                f"{minimum}."
            )
            raise _RefusError(400, "PARAMETRE_INCORRECT", libelle, nom)
        return int(valeur)
