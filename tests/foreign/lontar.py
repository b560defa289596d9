"""Lontar: a district archive office in Central Java has village papers copied out.

PHP and Yii2, written by a two-person vendor; it speaks Indonesian, its field names too.
Refusals are Yii's: 422 with a list of field and message, and name/message/code/status for
the rest. Completion pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import date, datetime, timedelta
from http import HTTPStatus
from math import ceil
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_BERKAS = (
    ("Desa Sumberrejo", "Papan nama", "Balai Desa Sumberrejo, Kecamatan Ngablak", 12),
    ("Desa Karanganyar", "Surat tanah", "Letter C nomor 417 persil 23 kelas D.II", 25),
    ("Desa Wonolelo", "Berita acara", "Serah terima sawah bengkok kepada kamituwo", 18),
    ("Desa Banyusidi", "Papan nama", "Makam Kyai Abdul Jalil (wafat 1897)", 9),
    ("Desa Ketep", "Surat keputusan", "Pengangkatan juru tulis desa tahun 1954", 31),
    ("Desa Gantang", "Kuitansi", "Sudah terima dari Bp. Sastro: 3 kuintal gabah", 15),
)
_LABEL = {
    "berkas_id": "ID Berkas",
    "tanggal_selesai": "Tanggal Selesai",
    "pengambilan_id": "ID Pengambilan",
    "salinan": "Salinan",
    "pernyataan": "Pernyataan",
}


class _Tolak(Exception):  # noqa: N818
    """Carries a refusal out of the middle of an action."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _http(status: int, message: str) -> _Tolak:
    """Return what a yii\\web\\HttpException becomes."""
    headers = {"WWW-Authenticate": 'Bearer realm="api"'} if status == 401 else {}
    name = HTTPStatus(status).phrase
    body = {"name": name, "message": message, "code": 0, "status": status}
    return _Tolak(Response(status, body, headers))


def _invalid(*errors: tuple[str, str]) -> _Tolak:
    """Return what a model that does not validate becomes."""
    return _Tolak(Response(422, [{"field": n, "message": m} for n, m in errors]))


def _now() -> str:
    return datetime.now().strftime("%Y-%m-%d %H:%M:%S")  # noqa: DTZ005


class Lontar(Backend):
    """The archive office's network."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._files: dict[int, dict[str, Any]] = {}
        self._takings: dict[int, dict[str, Any]] = {}
        for n, (village, kind, text, fee) in enumerate(_BERKAS):
            self._files[318 + n] = {
                "id": 318 + n,
                "nomor_berkas": f"BA/{date.today().year}/{1170 + 3 * n}",  # noqa: DTZ011
                "desa": village,
                "jenis": kind,
                "petunjuk": "Salin isi naskah seluruhnya dengan HURUF KAPITAL; "
                "tanda baca dan angka tetap.",
                "naskah": text,
                "honor": fee,
                "satuan_honor": "kredit",
                "tenggat": (date.today() + timedelta(days=5 + n)).isoformat(),  # noqa: DTZ011
                "status": "tersedia",
            }

    def texts(self) -> dict[str, str]:
        return {str(key): record["naskah"] for key, record in self._files.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers["Content-Type"] = "application/json; charset=UTF-8"
        return answer

    def missing(self, request: Request) -> Response:
        return _http(404, "Halaman tidak ditemukan.").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        agent = f"AGEN-{self.book.registrations:05d}"
        self._agents[token] = {"id": agent, "saldo": 100}
        body = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {**body, "terdaftar_pada": _now()})

    def marketplace(self, request: Request) -> Response:
        return self._index(request)

    def tasks(self, request: Request) -> Response:
        return self._guard(lambda: (self._agent(request), self._index(request))[1])

    def claim(self, request: Request) -> Response:
        return self._guard(lambda: self._claim(request))

    def submit(self, request: Request) -> Response:
        return self._guard(lambda: self._submit(request))

    def complete(self, request: Request) -> Response:
        return self._guard(lambda: self._complete(request))

    @staticmethod
    def _guard(action: Any) -> Response:
        try:
            return action()
        except _Tolak as no:
            return no.response

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _http(401, "Your request was made with invalid credentials.")
        return self._agents[request.token]

    @staticmethod
    def _body(request: Request) -> dict[str, Any]:
        if "json" not in (request.headers.get("Content-Type") or ""):
            return {}
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            text = "Invalid JSON data in request body: Syntax error."
            raise _http(400, text) from None
        return body if isinstance(body, dict) else {}

    @staticmethod
    def _check(body: dict[str, Any], *wanted: str) -> None:
        """Validate what is required and what is a number, as the models' rules do."""
        errors = []
        for name in wanted:
            value = body.get(name)
            if value is None or value == "" or value == []:  # noqa: PLR1714
                errors.append((name, f"{_LABEL[name]} tidak boleh kosong."))
            elif name.endswith("_id"):
                if isinstance(value, bool) or not str(value).strip().isdecimal():
                    errors.append((name, f"{_LABEL[name]} harus bilangan bulat."))
            elif name == "tanggal_selesai":
                try:
                    datetime.strptime(str(value), "%Y-%m-%d")  # noqa: DTZ007
                except ValueError:
                    text = "Tanggal Selesai harus berformat YYYY-MM-DD."
                    errors.append((name, text))
            elif name == "salinan" and not isinstance(value, str):
                errors.append((name, "Salinan harus berupa string."))
        if errors:
            raise _invalid(*errors)

    def _index(self, request: Request) -> Response:
        def number(name: str, default: int) -> int:
            value = request.query.get(name, "")
            return int(value) if value.isdecimal() else default

        free = [f for f in self._files.values() if f["status"] == "tersedia"]
        size = min(max(number("limit", 20), 1), 50)
        pages = ceil(len(free) / size)
        page = max(1, min(number("page", 1), pages))

        def link(number_: int) -> dict[str, str]:
            return {"href": f"{request.base}{request.path}?limit={size}&page={number_}"}

        links = {"self": link(page), "first": link(1), "last": link(max(pages, 1))}
        if page < pages:
            links["next"] = link(page + 1)
        counts = (len(free), pages, page, size)
        names = ("Total-Count", "Page-Count", "Current-Page", "Per-Page")
        fields = ("totalCount", "pageCount", "currentPage", "perPage")
        items, meta = free[(page - 1) * size : page * size], dict(zip(fields, counts))  # noqa: B905
        return Response(
            200,
            {"items": items, "_links": links, "_meta": meta},
            {f"X-Pagination-{n}": str(c) for n, c in zip(names, counts)},  # noqa: B905
        )

    def _claim(self, request: Request) -> Response:
        agent, body = self._agent(request), self._body(request)
        self._check(body, "berkas_id", "tanggal_selesai")
        record = self._files.get(int(body["berkas_id"]))
        if record is None:
            raise _invalid(("berkas_id", "ID Berkas tidak valid."))
        if record["status"] != "tersedia":
            raise _http(409, f"Berkas {record['nomor_berkas']} sudah diambil.")
        promised = str(datetime.strptime(body["tanggal_selesai"], "%Y-%m-%d").date())  # noqa: DTZ007
        today, last = str(date.today()), record["tenggat"]  # noqa: DTZ011
        if not today <= promised <= last:
            words, bound = ("besar", today) if promised < today else ("kecil", last)
            text = f'harus lebih {words} dari atau sama dengan "{bound}".'
            raise _invalid(("tanggal_selesai", "Tanggal Selesai " + text))
        key = 70451 + len(self._takings)
        taking = {
            "id": key,
            "berkas_id": record["id"],
            "agen_id": agent["id"],
            "tanggal_selesai": promised,
            "status": "diambil",
            "diambil_pada": _now(),
        }
        self._takings[key] = taking
        record["status"] = "diambil"
        self.book.claimed(str(record["id"]))
        return Response(200, taking)

    def _taking(self, agent: dict[str, Any], value: Any) -> dict[str, Any]:
        taking = self._takings.get(int(value))
        if taking is None:
            raise _invalid(("pengambilan_id", "ID Pengambilan tidak valid."))
        if taking["agen_id"] != agent["id"]:
            raise _http(403, "Anda tidak diperbolehkan untuk melakukan aksi ini.")
        if taking["status"] == "selesai":
            raise _http(409, "Pengambilan ini sudah selesai.")
        return taking

    def _submit(self, request: Request) -> Response:
        agent, body = self._agent(request), self._body(request)
        self._check(body, "pengambilan_id", "salinan")
        taking = self._taking(agent, body["pengambilan_id"])
        if body["salinan"] != self._files[taking["berkas_id"]]["naskah"].upper():
            text = "Salinan tidak sesuai dengan naskah dalam huruf kapital."
            raise _invalid(("salinan", text))
        taking.update(status="diserahkan", diserahkan_pada=_now())
        return Response(200, {**taking, "salinan": body["salinan"]})

    def _complete(self, request: Request) -> Response:
        agent, body = self._agent(request), self._body(request)
        self._check(body, "pengambilan_id", "pernyataan")
        if body["pernyataan"] not in (True, "1", "true"):
            text = "Pernyataan harus bernilai true (salinan dibuat sesuai naskah)."
            raise _invalid(("pernyataan", text))
        taking = self._taking(agent, body["pengambilan_id"])
        if taking["status"] != "diserahkan":
            raise _http(409, "Salinan belum diserahkan.")
        record = self._files[taking["berkas_id"]]
        record["status"] = "selesai"
        taking.update(status="selesai", selesai_pada=_now())
        agent["saldo"] += record["honor"]
        self.book.pay(str(record["id"]), record["honor"])
        return Response(
            200, {**taking, "honor_dibayar": record["honor"], "saldo": agent["saldo"]}
        )
