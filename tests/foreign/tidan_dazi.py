"""远航货代单证部：提单英文内容改大写的内部工单接口。

A Chinese freight forwarder's in-house interface: pinyin initials for names, a message
with head and content, HTTP 200 for everything, and a return code with a sentence.
"""  # noqa: RUF002
# ruff: noqa: RUF001 - in the marks of its own script

import json
import re
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# 工单号 -> 品名, 航线, 原文, 积分
_GD = {
    "TD20261101": ("冷冻水产", "上海—汉堡", "frozen squid, 1200 cartons", 14),
    "TD20261102": ("家具", "宁波—鹿特丹", "Wooden chairs (knocked down), 2x40hq", 22),
    "TD20261103": ("灯具", "深圳—洛杉矶", "led lamps; fragile; this side up", 8),
    "TD20261104": ("茶叶", "厦门—温哥华", "Oolong tea in tins, net weight 3.5 mt", 17),
    "TD20261105": ("机械配件", "天津—釜山", "Spare parts for pump no. 7", 11),
    "TD20261106": ("玩具", "广州—悉尼", "plush toys, said to contain 860 packages", 26),
}
_ZYSM = "领单后取得原文（yw），将其中英文字母全部改为大写作为成稿，其余字符不得改动。"
_MAX_LIMIT = 5
_MAX_CHIYOU = 3


class _BuTongGuo(Exception):  # noqa: N818
    def __init__(self, fhm: str, fhxx: str) -> None:
        super().__init__(fhxx)
        self.fhm, self.fhxx = fhm, fhxx


class TidanDazi(Backend):
    """领单、交稿（校对通过即入账）、归档。"""  # noqa: RUF002

    def __init__(self) -> None:
        super().__init__()
        self._dl: dict[str, dict[str, Any]] = {}  # 令牌 -> 代理
        self._zt = dict.fromkeys(_GD, "待领")
        self._ld: dict[str, dict[str, str]] = {}  # 领单号 -> 领单记录

    def texts(self) -> dict[str, str]:
        return {gdh: row[2] for gdh, row in _GD.items()}

    # 报文 -------------------------------------------------------------------

    def _fs(self, body: Any, refused: bool = False) -> Response:  # noqa: FBT001, FBT002
        return Response(
            200,
            json.dumps(body, ensure_ascii=False),
            {"Content-Type": "application/json;charset=UTF-8"},
            refused=refused,
        )

    def _bw(self, fhm: str, fhxx: str, sj: Any) -> Response:
        now = datetime.now(UTC) + timedelta(hours=8)
        body = {"fhm": fhm, "fhxx": fhxx, "fhsj": f"{now:%Y%m%d%H%M%S}", "sj": sj}
        return self._fs(body, refused=fhm != "0000")

    def _ban(self, request: Request, banfa: Any) -> Response:
        try:
            fhxx, sj = banfa(request)
        except _BuTongGuo as no:
            return self._bw(no.fhm, no.fhxx, None)
        return self._bw("0000", fhxx, sj)

    def missing(self, request: Request) -> Response:
        return self._bw("9404", "接口不存在，请核对请求地址和请求方式", None)

    def _denglu(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _BuTongGuo("1001", "未登录：请求头Authorization中缺少令牌")
        if request.token not in self._dl:
            raise _BuTongGuo("1002", "令牌无效或已过期")
        return self._dl[request.token]

    def _jiexi(self, request: Request, dl: dict[str, Any], **nr: str) -> dict[str, str]:
        """解析报文头和报文内容；nr 为报文内容的必填字段及其中文名。"""  # noqa: RUF002
        try:
            body = request.json()
        except ValueError:
            raise _BuTongGuo("2001", "报文格式错误：请求体不是合法的JSON") from None
        if not isinstance(body, dict):
            raise _BuTongGuo("2001", "报文格式错误：请求体应为JSON对象")
        bitian = {
            "bwt": ("报文头", {"lsh": "流水号", "czr": "操作人编号"}),
            "bwnr": ("报文内容", nr),
        }
        que, zhi = [], {}
        for duan, (duan_ming, ziduan) in bitian.items():
            neirong = body.get(duan)
            if neirong is None:
                neirong = {}
            if not isinstance(neirong, dict):
                raise _BuTongGuo(
                    "2003", f"字段[{duan}]（{duan_ming}）类型错误，应为对象"
                )
            for ming, zhongwen in ziduan.items():
                z = neirong.get(ming)
                if z is None or z == "":
                    que.append(f"{duan}.{ming}（{zhongwen}）")
                elif not isinstance(z, str):
                    raise _BuTongGuo(
                        "2003", f"字段[{duan}.{ming}]（{zhongwen}）类型错误，应为字符串"
                    )
                else:
                    zhi[ming] = z
        if que:
            raise _BuTongGuo("2002", "缺少必填字段：" + "、".join(que))
        if len(zhi["lsh"]) > 64:
            raise _BuTongGuo("2003", "字段[bwt.lsh]（流水号）长度不能超过64位")
        if zhi["czr"] != dl["bh"]:
            raise _BuTongGuo(
                "1003", "字段[bwt.czr]（操作人编号）与令牌所属代理的agent_id不一致"
            )
        return zhi

    def _cha_ld(self, dl: dict[str, Any], ldh: str) -> dict[str, str]:
        ld = self._ld.get(ldh)
        if ld is None:
            raise _BuTongGuo("3004", f"领单号[{ldh}]不存在")
        if ld["czr"] != dl["bh"]:
            raise _BuTongGuo("3005", f"领单号[{ldh}]不属于当前操作人")
        return ld

    # 接口 -------------------------------------------------------------------

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        bh = f"DL{self.book.registrations:06d}"
        token = secrets.token_urlsafe(24)
        self._dl[token] = {"bh": bh, "jf": 100}
        return self._fs({"agent_id": bh, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        return self._ban(request, lambda r: self._denglu(r) and self._liebiao(r))

    def marketplace(self, request: Request) -> Response:
        return self._ban(request, self._liebiao)

    def _liebiao(self, request: Request) -> tuple[str, Any]:
        limit, dqy = (
            request.query.get("limit", str(_MAX_LIMIT)),
            request.query.get("dqy", "1"),
        )
        if not re.fullmatch(r"\d{1,6}", limit) or not 1 <= int(limit) <= _MAX_LIMIT:
            raise _BuTongGuo(
                "2003", f"参数[limit]（每页条数）取值范围为1至{_MAX_LIMIT}"
            )
        if not re.fullmatch(r"\d{1,6}", dqy) or int(dqy) < 1:
            raise _BuTongGuo("2003", "参数[dqy]（当前页）应为大于0的整数")
        mei, ye = int(limit), int(dqy)
        dai = [gdh for gdh, zt in self._zt.items() if zt == "待领"]
        zys = max(1, -(-len(dai) // mei))
        gdlb = [
            {
                "gdh": gdh,
                "pm": _GD[gdh][0],
                "hx": _GD[gdh][1],
                "zysm": _ZYSM,
                "bcjf": str(_GD[gdh][3]),
                "zt": self._zt[gdh],
            }
            for gdh in dai[(ye - 1) * mei :][:mei]
        ]
        xyy = f"{request.path}?limit={mei}&dqy={ye + 1}" if ye < zys else ""
        return "查询成功", {
            "zts": len(dai),
            "dqy": ye,
            "zys": zys,
            "xyy": xyy,
            "gdlb": gdlb,
        }

    def claim(self, request: Request) -> Response:
        return self._ban(request, self._lingdan)

    def _lingdan(self, request: Request) -> tuple[str, Any]:
        dl = self._denglu(request)
        zhi = self._jiexi(request, dl, gdh="工单号", yjjgrq="预计交稿日期")
        gdh, riqi = zhi["gdh"], zhi["yjjgrq"]
        try:
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", riqi):
                raise ValueError
            jiaogao = date.fromisoformat(riqi)
        except ValueError:
            raise _BuTongGuo(
                "2003", "字段[bwnr.yjjgrq]（预计交稿日期）格式错误，应为yyyy-MM-dd"
            ) from None
        if jiaogao < datetime.now(UTC).date():
            raise _BuTongGuo("2003", "字段[bwnr.yjjgrq]（预计交稿日期）不能早于今日")
        if gdh not in _GD:
            raise _BuTongGuo("3001", f"工单[{gdh}]不存在")
        if self._zt[gdh] != "待领":
            raise _BuTongGuo(
                "3002", f"工单[{gdh}]当前状态为“{self._zt[gdh]}”，不能领单"
            )
        chiyou = sum(
            ld["czr"] == dl["bh"] and self._zt[ld["gdh"]] == "已领"
            for ld in self._ld.values()
        )
        if chiyou >= _MAX_CHIYOU:
            raise _BuTongGuo(
                "3003", f"未交稿工单已达上限{_MAX_CHIYOU}张，请先交稿再领单"
            )
        ldh = f"LD{len(self._ld) + 1:05d}{secrets.randbelow(1000):03d}"
        self._ld[ldh] = {"gdh": gdh, "czr": dl["bh"]}
        self._zt[gdh] = "已领"
        self.book.claimed(gdh)
        return "领单成功", {
            "ldh": ldh,
            "gdh": gdh,
            "yw": _GD[gdh][2],
            "zt": "已领",
            "yjjgrq": riqi,
        }

    def submit(self, request: Request) -> Response:
        return self._ban(request, self._jiaogao)

    def _jiaogao(self, request: Request) -> tuple[str, Any]:
        dl = self._denglu(request)
        zhi = self._jiexi(request, dl, ldh="领单号", cgnr="成稿内容")
        gdh = self._cha_ld(dl, zhi["ldh"])["gdh"]
        if self._zt[gdh] != "已领":
            raise _BuTongGuo(
                "3002", f"工单[{gdh}]当前状态为“{self._zt[gdh]}”，不能重复交稿"
            )
        if zhi["cgnr"] != _GD[gdh][2].upper():
            raise _BuTongGuo(
                "4001", "校对不通过：成稿内容与大写后的原文不一致，请核对后重新交稿"
            )
        self._zt[gdh] = "已入账"
        jf = _GD[gdh][3]
        dl["jf"] += jf
        self.book.pay(gdh, jf)
        return "校对通过，积分已入账", {
            "ldh": zhi["ldh"],
            "gdh": gdh,
            "zt": "已入账",
            "rzjf": str(jf),
            "jfye": str(dl["jf"]),
        }

    def complete(self, request: Request) -> Response:
        return self._ban(request, self._guidang)

    def _guidang(self, request: Request) -> tuple[str, Any]:
        dl = self._denglu(request)
        zhi = self._jiexi(request, dl, ldh="领单号", sfgd="是否归档，取值：是、否")
        if zhi["sfgd"] not in ("是", "否"):
            raise _BuTongGuo("2003", "字段[bwnr.sfgd]（是否归档）取值只能为：是、否")
        gdh = self._cha_ld(dl, zhi["ldh"])["gdh"]
        if self._zt[gdh] != "已入账":
            raise _BuTongGuo(
                "3002", f"工单[{gdh}]当前状态为“{self._zt[gdh]}”，不能归档"
            )
        if zhi["sfgd"] == "是":
            self._zt[gdh] = "已归档"
        fhxx = "归档成功" if zhi["sfgd"] == "是" else "工单保留，未归档"
        return fhxx, {"ldh": zhi["ldh"], "gdh": gdh, "zt": self._zt[gdh]}
