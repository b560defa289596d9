"""A Chinese service behind a gateway: every answer is HTTP 200 with code, msg and data.

Code 0 means yes; anything else is a refusal, one fault at a time, in Chinese: 缺少参数 is
a missing parameter, 参数类型错误 one of the wrong type, 答案错误 a wrong answer. The listing
shows every task with its state: 待接单 waits for an agent, 进行中 is being worked on, 已完成
is done. Parameters that nobody asked for are ignored. Completing pays.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CONTENTS = (
    "the pine forest hides a small temple",
    "brew the tea for three minutes",
    "a crane stands in the shallow water",
    "the market sells silk and paper",
    "sweep the courtyard before guests arrive",
    "two brothers carved the stone lion",
    "the night bus stops at the bridge",
    "dry the mushrooms on a bamboo mat",
    "mist covers the terraces at sunrise",
    "the calligrapher grinds fresh ink",
    "float the lanterns down the stream",
    "count the steps up the mountain",
)
OPEN, WORKING, DONE = "待接单", "进行中", "已完成"
PARAMETERS: dict[str, dict[str, type]] = {
    "claim": {"task_no": str, "agent_no": str},
    "submit": {"task_no": str, "agent_no": str, "answer": str},
    "complete": {"task_no": str},
}
TYPE_NAMES = {str: "字符串", int: "整数"}


class BusinessError(Exception):
    """A refusal with its code."""

    def __init__(self, code: int, msg: str) -> None:
        super().__init__(msg)
        body = {"code": code, "msg": msg, "data": None}
        self.response = Response(200, body, refused=True)


def attempt(step: Callable[[Request], Response], request: Request) -> Response:
    """Run a step; the refusal it raises is the answer."""
    try:
        return step(request)
    except BusinessError as no:
        return no.response


def ok(data: Any) -> Response:
    """Return a yes."""
    return Response(body={"code": 0, "msg": "ok", "data": data})


def parameters(request: Request, action: str) -> dict[str, Any]:
    """Return the body, or refuse the first fault of its parameters."""
    try:
        body = request.json()
    except ValueError as fault:
        raise BusinessError(40000, "请求体不是合法的JSON") from fault
    if not isinstance(body, dict):
        raise BusinessError(40000, "请求体必须是JSON对象")
    for name, kind in PARAMETERS[action].items():
        value = body.get(name)
        if value is None or value == "":
            raise BusinessError(40001, f"缺少参数: {name}")
        if type(value) is not kind:
            raise BusinessError(40002, f"参数类型错误: {name} 应为{TYPE_NAMES[kind]}")
    return body


class CnGateway(Backend):
    """Tasks with numbers, states in Chinese, and one status code."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, dict[str, Any]] = {}
        for at, content in enumerate(CONTENTS):
            task = f"TN2026{at // 4 + 3:02d}{at * 2 + 1:02d}{at * 137 + 1042:05d}"
            self.records[task] = {
                "task_no": task,
                "content": content,
                "reward": (at * 4) % 9 + 1,
                "status": OPEN,
                "create_time": f"2026-{at // 4 + 3:02d}-{at * 2 + 1:02d} 09:00:00",
            }
        self.tokens: dict[str, str] = {}
        self.holders: dict[str, str] = {}
        self.answered: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {task: row["content"] for task, row in self.records.items()}

    def missing(self, request: Request) -> Response:
        return BusinessError(40404, "接口不存在").response

    def register(self, request: Request) -> Response:
        agent = f"AG{secrets.randbelow(10**10):010d}"
        token = secrets.token_hex(20)
        self.tokens[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "100")
        if not limit.isascii() or not limit.isdigit():
            return BusinessError(40002, "参数类型错误: limit 应为整数").response
        rows = list(self.records.values())
        return ok({"total": len(rows), "list": rows[: int(limit)]})

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def agent(self, request: Request) -> str:
        if not request.token:
            raise BusinessError(40100, "未登录")
        if request.token not in self.tokens:
            raise BusinessError(40101, "token无效或已过期")
        return self.tokens[request.token]

    def record(self, body: dict[str, Any], agent: str) -> dict[str, Any]:
        """Return the task that a body names, for this agent."""
        if body.get("agent_no", agent) != agent:
            raise BusinessError(40301, "agent_no 与当前登录的智能体不一致")
        if body["task_no"] not in self.records:
            raise BusinessError(40401, f"任务不存在: {body['task_no']}")
        return self.records[body["task_no"]]

    def held(self, body: dict[str, Any], agent: str) -> dict[str, Any]:
        """Return the task that a body names, held by this agent and not done."""
        row = self.record(body, agent)
        if self.holders.get(row["task_no"]) != agent:
            raise BusinessError(40902, "请先接单")
        if row["status"] == DONE:
            raise BusinessError(40904, "任务已完成, 请勿重复操作")
        return row

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request)

    def on_claim(self, request: Request) -> Response:
        agent = self.agent(request)
        row = self.record(parameters(request, "claim"), agent)
        if row["status"] != OPEN:
            raise BusinessError(40901, "任务已被接单")
        row["status"] = WORKING
        self.holders[row["task_no"]] = agent
        self.book.claimed(row["task_no"])
        return ok({"task_no": row["task_no"], "状态": WORKING})

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request)

    def on_submit(self, request: Request) -> Response:
        agent = self.agent(request)
        body = parameters(request, "submit")
        row = self.held(body, agent)
        if body["answer"] != row["content"].upper():
            raise BusinessError(40022, "答案错误")
        self.answered.add(row["task_no"])
        return ok({"task_no": row["task_no"], "状态": WORKING, "答案": "正确"})

    def complete(self, request: Request) -> Response:
        return attempt(self.on_complete, request)

    def on_complete(self, request: Request) -> Response:
        agent = self.agent(request)
        row = self.held(parameters(request, "complete"), agent)
        if row["task_no"] not in self.answered:
            raise BusinessError(40903, "请先提交答案")
        row["status"] = DONE
        self.book.pay(row["task_no"], row["reward"])
        return ok({"状态": DONE, "reward": row["reward"]})
