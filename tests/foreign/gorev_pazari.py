"""GörevPazarı: a Turkish company's service in Java (Spring Boot), written the usual way.

Every answer but the registration stands in the company's envelope (basarili, mesaj, veri), a
list is a Spring page, bean validation names its fields in `alanHatalari`, and Jackson's own
sentences come through when a body cannot be read. Completion pays.
"""  # noqa: RUF002

import json
import secrets
import uuid
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Manav etiketi", "kırmızı elma kasası", 18),  # noqa: RUF001
    ("Kargo bildirimi", "yarın sabah kargo dağıtımda", 24),  # noqa: RUF001
    ("Vitrin yazısı", "uzun kollu yazlık gömlek", 30),  # noqa: RUF001
    ("Menü satırı", "taze sıkılmış portakal suyu", 9),  # noqa: RUF001
    ("Katalog başlığı", "ahşap masa ve dört sandalye", 42),  # noqa: RUF001
    ("Depo levhası", "soğuk hava deposu, kapıyı kapat", 14),  # noqa: RUF001
]


class _Hata(Exception):  # noqa: N818
    def __init__(self, status: int, kod: str, mesaj: str, alanlar: Any = None) -> None:
        super().__init__(mesaj)
        self.status, self.kod, self.mesaj, self.alanlar = status, kod, mesaj, alanlar


def _now() -> str:
    return datetime.now(timezone(timedelta(hours=3))).isoformat(timespec="milliseconds")


def _json(status: int, body: Any) -> Response:
    raw = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(status, raw, {"Content-Type": "application/json"})


def _tamam(veri: Any, mesaj: str) -> Response:
    return _json(200, {"basarili": True, "mesaj": mesaj, "veri": veri, "zaman": _now()})


def _advice(method: Callable[[Any, Request], Response]) -> Any:
    """Turn exceptions into answers, as the company's @RestControllerAdvice does."""

    @wraps(method)
    def answer(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Hata as hata:
            body = {"basarili": False, "hataKodu": hata.kod, "mesaj": hata.mesaj}
            if hata.alanlar is not None:
                body["alanHatalari"] = hata.alanlar
            return _json(hata.status, {**body, "yol": request.path, "zaman": _now()})

    return answer


class GorevPazari(Backend):
    """The company's marketplace of small writing jobs."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._gorevler: dict[str, dict[str, Any]] = {}
        self._atamalar: dict[str, dict[str, Any]] = {}
        son = (date.today() + timedelta(days=30)).isoformat()  # noqa: DTZ011
        for sira, (baslik, metin, tutar) in enumerate(_WORK):
            no = f"GRV-2025-{1204 + 7 * sira:05d}"
            self._gorevler[no] = {
                "gorevNo": no,
                "baslik": baslik,
                "aciklama": "Kaynak metnin tamamını büyük harflerle yazınız.",  # noqa: RUF001
                "kaynakMetin": metin,
                "ucret": {"tutar": tutar, "birim": "KREDI"},
                "durum": "ACIK",
                "sonTeslimTarihi": son,
            }

    def texts(self) -> dict[str, str]:
        return {no: gorev["kaynakMetin"] for no, gorev in self._gorevler.items()}

    @_advice
    def missing(self, request: Request) -> Response:
        text = f"No static resource {request.path.lstrip('/')}."
        raise _Hata(404, "KAYNAK_BULUNAMADI", text)

    def register(self, request: Request) -> Response:
        token, agent = secrets.token_hex(20), str(uuid.uuid4())
        self._tokens[token] = agent
        self.book.registrations += 1
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return _json(200, {**answer, "kayitTarihi": _now()})

    @_advice
    def tasks(self, request: Request) -> Response:
        if request.path.endswith("tasks"):  # the marketplace itself is public
            self._ajan(request)
        return self._sayfa(request)

    marketplace = tasks

    @_advice
    def claim(self, request: Request) -> Response:
        ajan = self._ajan(request)
        govde = self._govde(request)
        tarih = self._tarih(govde, "taahhutTarihi")
        self._gecerli(govde, "gorevNo", "taahhutTarihi")
        if tarih < date.today():  # noqa: DTZ011
            mesaj = "bugün veya gelecekte bir tarih olmalı"  # noqa: RUF001
            raise self._dogrulama([("taahhutTarihi", mesaj, tarih.isoformat())])
        gorev = self._gorevler.get(govde["gorevNo"])
        if gorev is None:
            no = govde["gorevNo"]
            raise _Hata(404, "GOREV_BULUNAMADI", f"Görev bulunamadı: {no}")  # noqa: RUF001
        if gorev["durum"] != "ACIK":
            raise _Hata(409, "GOREV_ACIK_DEGIL", "Görev daha önce atanmış.")  # noqa: RUF001
        if tarih > date.fromisoformat(gorev["sonTeslimTarihi"]):
            son = gorev["sonTeslimTarihi"]
            mesaj = f"Taahhüt tarihi, son teslim tarihinden ({son}) sonra olamaz."
            raise _Hata(400, "TAAHHUT_TARIHI_GECERSIZ", mesaj)
        gorev["durum"] = "ATANDI"
        kimlik = str(uuid.uuid4())
        atama = {"atamaId": kimlik, "ajanNo": ajan, "taahhutTarihi": tarih.isoformat()}
        atama |= {"gorev": gorev, "teslimatNo": None}
        self._atamalar[kimlik] = atama
        self.book.claimed(gorev["gorevNo"])
        return _tamam(atama, "Görev size atandı.")  # noqa: RUF001

    @_advice
    def submit(self, request: Request) -> Response:
        ajan = self._ajan(request)
        govde = self._govde(request)
        self._gecerli(govde, "atamaId", "teslimMetni")
        atama = self._atama(govde["atamaId"], ajan)
        gorev = atama["gorev"]
        if gorev["durum"] != "ATANDI":
            raise _Hata(409, "TESLIM_EDILMIS", "Bu atama için teslimat zaten yapıldı.")  # noqa: RUF001
        if govde["teslimMetni"] != gorev["kaynakMetin"].upper():
            mesaj = "Teslim metni, kaynak metnin büyük harfli haliyle aynı değil."  # noqa: RUF001
            raise _Hata(422, "TESLIMAT_REDDEDILDI", mesaj)
        gorev["durum"] = "TESLIM_EDILDI"
        atama["teslimatNo"] = f"TSL-{secrets.randbelow(900000) + 100000}"
        veri = {"teslimatNo": atama["teslimatNo"], "durum": gorev["durum"]}
        return _tamam(veri, "Teslimat alındı. Ödeme için görevi tamamlayınız.")  # noqa: RUF001

    @_advice
    def complete(self, request: Request) -> Response:
        ajan = self._ajan(request)
        govde = self._govde(request)
        self._gecerli(govde, "atamaId", "teslimatNo")
        atama = self._atama(govde["atamaId"], ajan)
        gorev = atama["gorev"]
        if gorev["durum"] == "TAMAMLANDI":
            raise _Hata(409, "GOREV_TAMAMLANMIS", "Görev daha önce tamamlandı.")  # noqa: RUF001
        if atama["teslimatNo"] is None:
            raise _Hata(409, "TESLIMAT_YOK", "Bu atama için henüz teslimat yapılmadı.")  # noqa: RUF001
        if govde["teslimatNo"] != atama["teslimatNo"]:
            no = govde["teslimatNo"]
            raise _Hata(404, "TESLIMAT_BULUNAMADI", f"Teslimat bulunamadı: {no}")  # noqa: RUF001
        gorev["durum"] = "TAMAMLANDI"
        self.book.pay(gorev["gorevNo"], gorev["ucret"]["tutar"])
        return _tamam(
            {"gorev": gorev, "odenen": gorev["ucret"]},
            "Görev tamamlandı, ücret hesabınıza aktarıldı.",  # noqa: RUF001
        )

    def _ajan(self, request: Request) -> str:
        if not request.token:
            raise _Hata(401, "YETKISIZ", "Bu işlem için kimlik doğrulaması gereklidir.")  # noqa: RUF001
        if request.token not in self._tokens:
            raise _Hata(401, "GECERSIZ_TOKEN", "Erişim anahtarı geçersiz.")  # noqa: RUF001
        return self._tokens[request.token]

    @staticmethod
    def _govde(request: Request) -> dict[str, Any]:
        if "json" not in (kind := request.headers.get("Content-Type") or ""):
            text = f"Content-Type '{kind}' is not supported."
            raise _Hata(415, "DESTEKLENMEYEN_ICERIK", text)
        if not request.raw.strip():
            raise _Hata(400, "ISTEK_OKUNAMADI", "Required request body is missing")
        try:
            govde = request.json()
        except ValueError as error:
            raise _Hata(400, "ISTEK_OKUNAMADI", f"JSON parse error: {error}") from None
        if isinstance(govde, dict):
            return govde
        text = "JSON parse error: Cannot deserialize value from Array value"
        raise _Hata(400, "ISTEK_OKUNAMADI", text)

    @staticmethod
    def _tarih(govde: dict[str, Any], alan: str) -> Any:
        deger = govde[alan] = govde.get(alan) or None
        if deger is None:
            return None
        try:
            return date.fromisoformat(deger)
        except (TypeError, ValueError):
            text = "JSON parse error: Cannot deserialize value of type "
            text += f'`java.time.LocalDate` from String "{deger}" '
            text += f'(field "{alan}", expected format yyyy-MM-dd)'
            raise _Hata(400, "ISTEK_OKUNAMADI", text) from None

    @staticmethod
    def _dogrulama(hatalar: list[tuple[str, str, Any]]) -> _Hata:
        alanlar = [{"alan": a, "mesaj": m, "reddedilenDeger": d} for a, m, d in hatalar]
        mesaj = "Gönderilen bilgiler doğrulanamadı."  # noqa: RUF001
        return _Hata(400, "DOGRULAMA_HATASI", mesaj, alanlar)

    def _gecerli(self, govde: dict[str, Any], *alanlar: str) -> None:
        hatalar = []
        for alan in alanlar:
            deger = govde.get(alan)
            if isinstance(deger, dict | list):
                text = "JSON parse error: Cannot deserialize value of type "
                token = "Object" if isinstance(deger, dict) else "Array"
                text += f'`java.lang.String` from {token} value (field "{alan}")'
                raise _Hata(400, "ISTEK_OKUNAMADI", text)
            if isinstance(deger, int | float):  # Jackson reads a number as text.
                deger = govde[alan] = str(deger)
            if deger is None or not deger.strip():
                hatalar.append((alan, "boş değer olamaz", deger))
        if hatalar:
            raise self._dogrulama(hatalar)

    def _atama(self, kimlik: str, ajan: str) -> dict[str, Any]:
        atama = self._atamalar.get(kimlik)
        if atama is None or atama["ajanNo"] != ajan:
            raise _Hata(404, "ATAMA_BULUNAMADI", f"Atama bulunamadı: {kimlik}")  # noqa: RUF001
        return atama

    def _sayfa(self, request: Request) -> Response:
        sayi = {}
        sinirlar = (("limit", 20, 1, 50), ("sayfa", 0, 0, 9999))
        for ad, varsayilan, en_az, en_cok in sinirlar:
            deger = request.query.get(ad, str(varsayilan))
            if not deger.isdigit() or not en_az <= int(deger) <= en_cok:
                mesaj = f"'{ad}' parametresi {en_az} ile {en_cok} arasında olmalıdır."  # noqa: RUF001
                raise _Hata(400, "GECERSIZ_PARAMETRE", mesaj)
            sayi[ad] = int(deger)
        acik = [g for g in self._gorevler.values() if g["durum"] == "ACIK"]
        bas = sayi["limit"] * sayi["sayfa"]
        toplam = -(-len(acik) // sayi["limit"])
        veri = {"content": acik[bas : bas + sayi["limit"]], "number": sayi["sayfa"]}
        veri |= {
            "size": sayi["limit"],
            "totalElements": len(acik),
            "totalPages": toplam,
        }
        veri["last"] = sayi["sayfa"] + 1 >= toplam
        return _tamam(veri, "Görevler listelendi.")
