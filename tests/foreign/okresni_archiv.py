"""A Czech district archive: written by its own staff, in Czech, paid at the closing."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ULOHY = [
    (
        "JAF 1185/1",
        "Nápis na mapě panství",
        "mapa panství litomyšlského z roku 1781",
        14,
    ),
    ("JAF 1185/2", "Nadpis obecní kroniky", "pamětní kniha obce Dolní Újezd", 9),
    ("JAF 1185/7", "Štítek na krabici", "účty městského důchodu, svazek třetí", 11),
    (
        "JAF 2040/3",
        "Popisek fotografie",
        "žáci měšťanské školy před budovou radnice",
        17,
    ),
    ("JAF 2040/4", "Popisek fotografie", "povodeň na Loučné, březen 1929", 12),
    ("JAF 2311/1", "Hřbet listiny", "privilegium krále Jiřího z Poděbrad", 21),
    ("JAF 2311/5", "Záhlaví matriky", "kniha narozených fary Sebranice", 8),
    ("JAF 3006/2", "Název fondu", "cech tkalců a soukeníků ve Svitavách", 25),
]
_UCELY = ["úřední", "vědecký", "genealogický", "publikační", "soukromý"]
_POPISY = {
    "inventarni_cislo": "inventární číslo úlohy, jak je uvedeno v soupisu",
    "cislo_badatele": "číslo badatele (agent_id z registrace)",
    "ucel_studia": "účel studia podle badatelského listu",
    "cislo_jednaci": "číslo jednací výpůjčky, které jsme Vám přidělili při zapůjčení",
    "prepis": "hotový přepis předlohy",
    "souhlas_se_zverejnenim": "souhlas se zveřejněním přepisu, true nebo false",
}
_NEJVYSE = 3


def _chyba(stav: int, kod: str, hlaseni: str, **dalsi: Any) -> Response:
    hlavicky = {"Content-Language": "cs"}
    if stav == 401:
        hlavicky["WWW-Authenticate"] = 'Bearer realm="badatelna"'
    return Response(
        stav, {"vysledek": "chyba", "kod": kod, "hlaseni": hlaseni, **dalsi}, hlavicky
    )


def _ok(**telo: Any) -> Response:
    return Response(200, {"vysledek": "ok", **telo}, {"Content-Language": "cs"})


class OkresniArchiv(Backend):
    """The reading room of a Czech district archive."""

    def __init__(self) -> None:
        super().__init__()
        self._badatele: dict[str, dict[str, Any]] = {}  # by token
        self._stav = {cislo: "volná" for cislo, *_ in _ULOHY}
        self._vypujcky: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {cislo: text for cislo, _, text, _ in _ULOHY}

    def missing(self, request: Request) -> Response:
        return _chyba(404, "NENALEZENO", f"Stránka {request.path} neexistuje.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        kdo = {
            "agent_id": f"BAD-{date.today().year}-{self.book.registrations:04d}",  # noqa: DTZ011
            "access_token": secrets.token_hex(20),
            "credits": 100,
        }
        self._badatele[kdo["access_token"]] = dict(kdo)
        return Response(200, {**kdo, "hlaseni": "Badatelský list byl založen."})

    def _zaznam(self, cislo: str, nazev: str, text: str, odmena: int) -> dict[str, Any]:
        return {
            "inventarni_cislo": cislo,
            "nazev": nazev,
            "pokyn": "Předlohu přepište celou velkými písmeny, interpunkci ponechte.",
            "predloha": text,
            "odmena": f"{odmena} kreditů",
            "stav": self._stav[cislo],
        }

    def tasks(self, request: Request) -> Response:
        try:
            limit = int(request.query.get("limit") or 5)
            strana = int(request.query.get("strana") or 1)
        except ValueError:
            limit = strana = 0
        if not 1 <= limit <= 20 or strana < 1:
            return _chyba(
                400,
                "NEPLATNY_PARAMETR",
                "Parametr limit musí být celé číslo od 1 do 20 a strana celé číslo od 1.",
            )
        od = (strana - 1) * limit
        adresa = f"{request.base}{request.path}?limit={limit}&strana={strana + 1}"
        return _ok(
            celkem=len(_ULOHY),
            strana=strana,
            soupis=[self._zaznam(*u) for u in _ULOHY[od : od + limit]],
            dalsi_strana=adresa if od + limit < len(_ULOHY) else None,
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return _ok(
            badatele=[
                {"cislo_badatele": b["agent_id"]} for b in self._badatele.values()
            ]
        )

    directory = agents

    def checkout(self, request: Request) -> Response:
        return _chyba(
            501, "NEZAVEDENO", "Platby přijímáme pouze v hotovosti na podatelně."
        )

    def _zadost(
        self, request: Request, *pole: str
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        """Return who asks, the body, and the refusal if there is one."""
        kdo = self._badatele.get(request.token)
        if kdo is None:
            text = "Nejste přihlášen(a). Uveďte hlavičku Authorization: Bearer <access_token>."
            return {}, {}, _chyba(401, "NEPRIHLASEN", text)
        try:
            telo = request.json()
        except ValueError:
            telo = None
        if not isinstance(telo, dict):
            return (
                kdo,
                {},
                _chyba(400, "NEPLATNY_JSON", "Tělo žádosti musí být objekt JSON."),
            )
        nedostatky = {}
        for jmeno in pole:
            hodnota = telo.get(jmeno)
            if hodnota is None or hodnota == "":
                nedostatky[jmeno] = f"Povinný údaj chybí: {_POPISY[jmeno]}."
            elif jmeno == "souhlas_se_zverejnenim":
                if not isinstance(hodnota, bool):
                    nedostatky[jmeno] = "Údaj musí být true nebo false."
            elif not isinstance(hodnota, str):
                nedostatky[jmeno] = "Údaj musí být text."
        ucel = telo.get("ucel_studia")
        if "ucel_studia" in pole and (ucel is None or ucel not in _UCELY):
            nedostatky["ucel_studia"] = (
                "Uveďte účel studia, jednu z těchto hodnot: " + ", ".join(_UCELY) + "."
            )
        if nedostatky:
            text = "Žádost nelze přijmout, opravte prosím uvedené údaje."
            return kdo, telo, _chyba(422, "NEUPLNA_ZADOST", text, nedostatky=nedostatky)
        return kdo, telo, None

    def claim(self, request: Request) -> Response:
        kdo, telo, odmitnuti = self._zadost(
            request, "inventarni_cislo", "cislo_badatele", "ucel_studia"
        )
        if odmitnuti:
            return odmitnuti
        if telo["cislo_badatele"] != kdo["agent_id"]:
            return _chyba(
                403, "CIZI_BADATEL", "Číslo badatele nepatří k Vašemu přihlášení."
            )
        cislo = telo["inventarni_cislo"]
        if cislo not in self._stav:
            return _chyba(
                404, "NEZNAMA_ULOHA", f"Inventární číslo „{cislo}“ v soupisu není."
            )
        if self._stav[cislo] != "volná":
            return _chyba(
                409, "NENI_VOLNA", f"Úloha {cislo} je již {self._stav[cislo]}."
            )
        jeho = [v for v in self._vypujcky.values() if v["kdo"] == kdo["agent_id"]]
        if sum(v["stav"] != "uzavřeno" for v in jeho) >= _NEJVYSE:
            return _chyba(
                409,
                "MNOHO_VYPUJCEK",
                f"Současně lze mít zapůjčeny nejvýše {_NEJVYSE} úlohy. Nejprve některou uzavřete.",
            )
        self._stav[cislo] = "zapůjčená"
        cj = f"SOkA-SY/{len(self._vypujcky) + 1:05d}/{date.today().year}"  # noqa: DTZ011
        self._vypujcky[cj] = {
            "uloha": cislo,
            "kdo": kdo["agent_id"],
            "stav": "zapůjčeno",
        }
        self.book.claimed(cislo)
        return _ok(
            vypujcka={
                "cislo_jednaci": cj,
                "inventarni_cislo": cislo,
                "vratit_do": (date.today() + timedelta(days=14)).isoformat(),  # noqa: DTZ011
            }
        )

    def _najdi(
        self, kdo: dict[str, Any], cj: str
    ) -> tuple[dict[str, Any], Response | None]:
        vypujcka = self._vypujcky.get(cj)
        if vypujcka is None or vypujcka["kdo"] != kdo["agent_id"]:
            text = f"Výpůjčku s číslem jednacím „{cj}“ u Vás neevidujeme."
            return {}, _chyba(404, "NEZNAMA_VYPUJCKA", text)
        if vypujcka["stav"] == "uzavřeno":
            return {}, _chyba(409, "UZAVRENO", f"Výpůjčka {cj} je již uzavřena.")
        return vypujcka, None

    def submit(self, request: Request) -> Response:
        kdo, telo, odmitnuti = self._zadost(request, "cislo_jednaci", "prepis")
        if odmitnuti:
            return odmitnuti
        vypujcka, odmitnuti = self._najdi(kdo, telo["cislo_jednaci"])
        if odmitnuti:
            return odmitnuti
        if telo["prepis"] != self.texts()[vypujcka["uloha"]].upper():
            return _chyba(
                422,
                "PREPIS_NESOUHLASI",
                "Přepis nesouhlasí s předlohou. Opravte jej a odevzdejte znovu.",
            )
        vypujcka["stav"] = "odevzdáno"
        return _ok(
            cislo_jednaci=telo["cislo_jednaci"],
            stav="odevzdáno",
            hlaseni="Přepis byl zkontrolován. Odměna bude připsána po uzavření výpůjčky.",
        )

    def complete(self, request: Request) -> Response:
        kdo, telo, odmitnuti = self._zadost(
            request, "cislo_jednaci", "souhlas_se_zverejnenim"
        )
        if odmitnuti:
            return odmitnuti
        vypujcka, odmitnuti = self._najdi(kdo, telo["cislo_jednaci"])
        if odmitnuti:
            return odmitnuti
        if vypujcka["stav"] != "odevzdáno":
            return _chyba(
                409, "NEODEVZDANO", "Výpůjčku nelze uzavřít, přepis nebyl odevzdán."
            )
        vypujcka["stav"] = "uzavřeno"
        cislo = vypujcka["uloha"]
        odmena = next(u[3] for u in _ULOHY if u[0] == cislo)
        self._stav[cislo] = "vyřízená"
        kdo["credits"] += odmena
        self.book.pay(cislo, odmena)
        return _ok(
            cislo_jednaci=telo["cislo_jednaci"],
            stav="uzavřeno",
            pripsano=f"{odmena} kreditů",
            zustatek=f"{kdo['credits']} kreditů",
        )

    def post(self, request: Request) -> Response:
        return _chyba(403, "JEN_PRACOVNICI", "Úlohy zadávají pouze pracovníci archivu.")
