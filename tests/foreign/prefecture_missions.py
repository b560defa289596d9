"""A prefecture's interface for transcription missions: Spring Boot, by a contractor.

Hibernate Validator's French sentences, a return code in every answer, business rules
numbered as in the contractor's specification.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import date, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MISSIONS = [
    ("Enseigne d'un guichet", "accueil des usagers - bureau 12", 15),
    ("Intitulé d'un arrêté", "arrêté portant réglementation de la circulation", 30),
    ("Nom d'une commune", "saint-étienne-du-bois", 10),
    ("Bandeau d'un formulaire", "demande de titre de séjour", 18),
    ("Plaque d'un service", "direction de la citoyenneté", 22),
    ("Avis au public", "fermeture exceptionnelle le 14 juillet", 25),
    ("Mention d'un registre", "registre n° 7 : associations déclarées", 12),
    ("Libellé d'une enveloppe", "élections européennes, vote par procuration", 28),
]
_MAX_EN_COURS = 2


class PrefectureMissions(Backend):
    """Engagement, dépôt, clôture; the closing ("service fait") pays."""

    def __init__(self) -> None:
        super().__init__()
        self._intervenants: dict[str, dict[str, Any]] = {}  # by token
        self._engagements: dict[str, dict[str, Any]] = {}
        self._missions: dict[str, dict[str, Any]] = {}
        for numero, (intitule, texte, montant) in enumerate(_MISSIONS, 417):
            reference = f"MIS-2025-{numero:05d}"
            self._missions[reference] = {
                "reference": reference,
                "intitule": intitule,
                "consigne": "Restituer le texte à transcrire en lettres capitales, "
                "accents, chiffres et ponctuation conservés.",
                "texteATranscrire": texte,
                "indemnite": {"montant": float(montant), "unite": "CREDIT"},
                "etat": {"code": "OUV", "libelle": "Ouverte"},
                "servicePrescripteur": "Bureau de la dématérialisation",
                "dateLimite": "31/12/2099",
            }

    def texts(self) -> dict[str, str]:
        return {cle: m["texteATranscrire"] for cle, m in self._missions.items()}

    # -- envelopes

    def _entete(self, code: str, libelle: str) -> dict[str, str]:
        return {
            "codeRetour": code,
            "libelleRetour": libelle,
            "horodatage": datetime.now().strftime("%d/%m/%Y %H:%M:%S"),  # noqa: DTZ005
        }

    def _reponse(self, status: int, body: dict) -> Response:
        return Response(
            status,
            body,
            {
                "Content-Type": "application/json;charset=UTF-8",
                "X-Correlation-Id": secrets.token_hex(8),
            },
        )

    def _ok(self, corps: Any, libelle: str = "Traitement effectué") -> Response:
        return self._reponse(
            200, {"entete": self._entete("0000", libelle), "corps": corps}
        )

    def _non(
        self, status: int, code: str, libelle: str, erreurs: list[dict] | None = None
    ) -> Response:
        return self._reponse(
            status, {"entete": self._entete(code, libelle), "erreurs": erreurs or []}
        )

    def missing(self, request: Request) -> Response:
        return self._non(404, "TEC-404", f"La ressource {request.path} n'existe pas.")

    def _habilite(self, request: Request) -> Response | None:
        if not request.token:
            return self._non(
                401, "HAB-001", "Jeton d'accès absent : authentification requise."
            )
        if request.token not in self._intervenants:
            return self._non(401, "HAB-002", "Jeton d'accès invalide ou expiré.")
        return None

    def _saisie(  # noqa: PLR0915
        self, request: Request, champs: dict[str, str]
    ) -> tuple[dict, Response | None]:
        """Authenticate, read the body and apply the constraints of the fields."""
        refus = self._habilite(request)
        if refus:
            return {}, refus
        media = request.headers.get("Content-Type") or ""
        if "application/json" not in media:
            return {}, self._non(
                415,
                "TEC-415",
                f"Le type de contenu « {media} » n'est pas pris en charge ; "
                "type attendu : application/json.",
            )
        try:
            corps = request.json()
        except ValueError:
            corps = None
        if not isinstance(corps, dict):
            return {}, self._non(
                400,
                "TEC-400",
                "Le corps de la requête est illisible : objet JSON attendu.",
            )
        erreurs = []
        saisie: dict[str, Any] = {}
        for champ, nature in champs.items():
            valeur = corps.get(champ)
            saisie[champ] = valeur
            message = ""
            if nature == "texte":
                if isinstance(valeur, (int, float)):  # Jackson makes a string of it
                    saisie[champ] = valeur = str(valeur)
                if valeur is None or (isinstance(valeur, str) and not valeur.strip()):
                    message = "ne doit pas être vide"
                elif not isinstance(valeur, str):
                    message = "doit être une chaîne de caractères"
            elif nature == "vrai":
                if valeur is None:
                    message = "ne doit pas être nul"
                elif not isinstance(valeur, bool):
                    message = "doit être un booléen (true ou false)"
                elif not valeur:
                    message = "doit être vrai"
            elif valeur is None:
                message = "ne doit pas être nul"
            else:
                try:
                    jour = datetime.strptime(str(valeur), "%d/%m/%Y").date()  # noqa: DTZ007
                except ValueError:
                    message = "date invalide, format attendu : JJ/MM/AAAA"
                else:
                    if nature == "futur" and jour < date.today():  # noqa: DTZ011
                        message = "doit être une date dans le présent ou le futur"
                    elif nature == "passe" and jour > date.today():  # noqa: DTZ011
                        message = "doit être une date dans le passé ou le présent"
            if message:
                erreurs.append(
                    {"champ": champ, "valeurRejetee": valeur, "message": message}
                )
        if erreurs:
            return {}, self._non(
                400,
                "VAL-001",
                "La requête comporte des données manquantes ou erronées.",
                erreurs,
            )
        return saisie, None

    # -- operations

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        jeton = secrets.token_urlsafe(32)
        identifiant = f"INT-{self.book.registrations:06d}"
        self._intervenants[jeton] = {"identifiant": identifiant, "solde": 100.0}
        return self._reponse(
            200,
            {
                "entete": self._entete("0000", "Inscription enregistrée"),
                "agent_id": identifiant,
                "access_token": jeton,
                "credits": 100,
            },
        )

    def _liste(self, request: Request) -> Response:
        try:
            taille = int(request.query.get("limit", "10"))
            page = int(request.query.get("page", "1"))
        except ValueError:
            taille = page = 0
        if not 1 <= taille <= 50 or page < 1:
            return self._non(
                400, "VAL-002", "Le paramètre limit doit être compris entre 1 et 50."
            )
        toutes = list(self._missions.values())
        suite = page * taille < len(toutes)
        return self._ok(
            {
                "listeMissions": toutes[(page - 1) * taille : page * taille],
                "pagination": {
                    "page": page,
                    "taillePage": taille,
                    "nombreTotal": len(toutes),
                    "pageSuivante": f"{request.base}{request.path}?limit={taille}"
                    f"&page={page + 1}"
                    if suite
                    else None,
                },
            }
        )

    def marketplace(self, request: Request) -> Response:
        return self._liste(request)

    def tasks(self, request: Request) -> Response:
        return self._habilite(request) or self._liste(request)

    def claim(self, request: Request) -> Response:
        saisie, refus = self._saisie(
            request,
            {
                "referenceMission": "texte",
                "identifiantIntervenant": "texte",
                "dateRestitutionPrevue": "futur",
            },
        )
        if refus:
            return refus
        moi = self._intervenants[request.token]["identifiant"]
        if saisie["identifiantIntervenant"] != moi:
            return self._non(
                403,
                "HAB-004",
                "L'identifiant de l'intervenant ne correspond pas au jeton d'accès.",
            )
        mission = self._missions.get(saisie["referenceMission"])
        if not mission:
            return self._non(
                404,
                "RG-001",
                f"Aucune mission ne porte la référence {saisie['referenceMission']}.",
            )
        if mission["etat"]["code"] != "OUV":
            return self._non(
                409, "RG-003", "Cette mission n'est plus ouverte à l'engagement."
            )
        siens = [
            e
            for e in self._engagements.values()
            if e["intervenant"] == moi and e["statut"] == "EN_COURS"
        ]
        if len(siens) >= _MAX_EN_COURS:
            return self._non(
                409,
                "RG-007",
                f"Un intervenant ne peut détenir plus de {_MAX_EN_COURS} engagements en cours.",
            )
        numero = f"ENG{len(self._engagements) + 1:07d}"
        self._engagements[numero] = {
            "intervenant": moi,
            "mission": mission,
            "statut": "EN_COURS",
            "accuse": None,
        }
        mission["etat"] = {"code": "ATT", "libelle": "Attribuée"}
        self.book.claimed(mission["reference"])
        return self._ok(
            {
                "numeroEngagement": numero,
                "referenceMission": mission["reference"],
                "statutEngagement": "EN_COURS",
                "dateRestitutionPrevue": saisie["dateRestitutionPrevue"],
            },
            "Engagement enregistré",
        )

    def _engagement(
        self, request: Request, numero: str
    ) -> tuple[dict, Response | None]:
        engagement = self._engagements.get(numero)
        moi = self._intervenants[request.token]["identifiant"]
        if not engagement or engagement["intervenant"] != moi:
            return {}, self._non(
                404,
                "RG-010",
                f"L'engagement {numero} est inconnu pour cet intervenant.",
            )
        return engagement, None

    def submit(self, request: Request) -> Response:
        saisie, refus = self._saisie(
            request,
            {
                "numeroEngagement": "texte",
                "texteRestitue": "texte",
                "dateRealisation": "passe",
            },
        )
        if refus:
            return refus
        engagement, refus = self._engagement(request, saisie["numeroEngagement"])
        if refus:
            return refus
        if engagement["statut"] != "EN_COURS":
            return self._non(409, "RG-011", "Une restitution a déjà été déposée.")
        if saisie["texteRestitue"] != engagement["mission"]["texteATranscrire"].upper():
            return self._non(
                422,
                "RG-012",
                "Le texte restitué n'est pas conforme à la consigne de la mission.",
            )
        engagement["statut"] = "DEPOSE"
        engagement["accuse"] = "AR-" + secrets.token_hex(4).upper()
        return self._ok(
            {
                "numeroEngagement": saisie["numeroEngagement"],
                "numeroAccuseReception": engagement["accuse"],
                "statutEngagement": "DEPOSE",
            },
            "Restitution déposée et déclarée conforme",
        )

    def complete(self, request: Request) -> Response:
        saisie, refus = self._saisie(
            request,
            {"numeroAccuseReception": "texte", "attestationServiceFait": "vrai"},
        )
        if refus:
            return refus
        moi = self._intervenants[request.token]
        accuse = saisie["numeroAccuseReception"]
        engagement = next(
            (
                e
                for e in self._engagements.values()
                if e["accuse"] == accuse and e["intervenant"] == moi["identifiant"]
            ),
            None,
        )
        if not engagement:
            return self._non(
                404, "RG-020", f"L'accusé de réception {accuse} est inconnu."
            )
        if engagement["statut"] == "CLOTURE":
            return self._non(409, "RG-021", "L'engagement est déjà clôturé.")
        mission = engagement["mission"]
        engagement["statut"] = "CLOTURE"
        mission["etat"] = {"code": "CLO", "libelle": "Clôturée"}
        moi["solde"] += mission["indemnite"]["montant"]
        self.book.pay(mission["reference"], int(mission["indemnite"]["montant"]))
        return self._ok(
            {
                "statutEngagement": "CLOTURE",
                "indemniteVersee": mission["indemnite"],
                "soldeIntervenant": moi["solde"],
            },
            "Service fait constaté, indemnité versée",
        )
