"""A WordPress plugin's REST routes: rest_missing_callback_param and what comes with it.

Missing parameters are told all together, wrong ones in data.params by name. Posts have
integer ids, titles and contents as {"rendered", "raw"}; how many pages there are is in
X-WP-TotalPages. What an agent delivers is a comment on the post, and pending until somebody
approves it: submitting answers with the comment's id, and completing is about the comment.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CONTENTS = (
    "hello world was here before you",
    "the theme changed over the weekend",
    "a widget rattles in the sidebar",
    "forty plugins and a birthday cake",
    "the excerpt ends in three dots",
    "sticky notes stay on the first page",
    "the permalink leads to a meadow",
    "drafts pile up beneath the stairs",
    "a shortcode opens the garden gate",
    "the gallery shows nine wet dogs",
    "comments are closed after dark",
    "revision twelve was the best one",
)
PAGE = 5
LOOKS_BEFORE_APPROVED = 2
IS_NOT = {int: "is not of type integer.", str: "is not of type string."}


class RestError(Exception):
    def __init__(self, code: str, words: str, status: int, **data: Any) -> None:
        super().__init__(words)
        self.code, self.words, self.data = code, words, {"status": status, **data}


def params(request: Request, **wanted: type) -> Any:
    """Return the parameters as WP_REST_Request has checked them."""
    try:
        body = request.json()
    except ValueError as fault:
        words = "Invalid JSON body passed."
        raise RestError("rest_invalid_json", words, 400) from fault
    if not isinstance(body, dict):
        body = {}
    absent = [name for name in wanted if name not in body]
    if absent:
        words = f"Missing parameter(s): {', '.join(absent)}"
        code = "rest_missing_callback_param"
        raise RestError(code, words, 400, params=absent)
    wrong = {}
    for name, kind in wanted.items():
        value = body[name]
        if kind is int and isinstance(value, str) and value.isdigit():
            body[name] = int(value)  # WordPress takes "12" for 12
        elif not isinstance(value, kind):
            wrong[name] = f"{name} {IS_NOT[kind]}"
    if wrong:
        words = f"Invalid parameter(s): {', '.join(wrong)}"
        raise RestError("rest_invalid_param", words, 400, params=wrong)
    return body


class WordpressRest(Backend):
    """Twelve posts of the type `gig`."""

    def __init__(self) -> None:
        super().__init__()
        self.posts = {118 + 7 * n: text for n, text in enumerate(CONTENTS)}
        self.credits = {post: n % 3 + 2 for n, post in enumerate(self.posts)}
        self.author: dict[int, str] = {}
        self.comments: dict[int, int] = {}  # comment -> post
        self.looks: dict[int, int] = {}
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {str(post): text for post, text in self.posts.items()}

    def missing(self, request: Request) -> Response:
        words = "No route was found matching the URL and request method."
        body = {"code": "rest_no_route", "message": words, "data": {"status": 404}}
        return Response(404, body)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(41 + len(self.agents)), secrets.token_hex(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [post for post in self.posts if post not in self.author]
        pages = max(-(-len(free) // PAGE), 1)
        page = int(request.query.get("page", "1") or 1)
        if page > pages:
            return self.refusal(
                RestError(
                    "rest_post_invalid_page_number",
                    "The page number requested is larger than the number of pages "
                    "available.",
                    400,
                )
            )
        shown = free[(page - 1) * PAGE : page * PAGE]
        headers = {"X-WP-Total": str(len(free)), "X-WP-TotalPages": str(pages)}
        return Response(200, [self.gig(post) for post in shown], headers)

    def gig(self, post: int) -> dict[str, Any]:
        text = self.posts[post]
        return {
            "id": post,
            "date_gmt": "2026-03-01T12:00:00",
            "type": "gig",
            "status": "publish",
            "title": {"rendered": f"Capital letters, please ({post})"},
            "content": {"raw": text, "protected": False},
            "meta": {"credits": self.credits[post]},
        }

    def refusal(self, no: RestError) -> Response:
        body = {"code": no.code, "message": no.words, "data": no.data}
        return Response(no.data["status"], body)

    def answered(self, request: Request, run: Any) -> Response:
        if request.token not in self.agents:
            words = "Sorry, you are not allowed to do that."
            return self.refusal(RestError("rest_forbidden", words, 401))
        try:
            found: Response = run(request)
        except RestError as no:
            return self.refusal(no)
        return found

    def the_post(self, body: Any) -> int:
        if body["post"] not in self.posts:
            raise RestError("rest_post_invalid_id", "Invalid post ID.", 404)
        found: int = body["post"]
        return found

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, request: Request) -> Response:
        post = self.the_post(params(request, post=int))
        if post in self.author:
            raise RestError("gig_taken", "This gig is already taken.", 409)
        self.author[post] = self.agents[request.token]
        self.book.claimed(str(post))
        return Response(200, {"id": post, "status": "assigned"})

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, request: Request) -> Response:
        body = params(request, post=int, content=str)
        post = self.the_post(body)
        if self.author.get(post) != self.agents[request.token]:
            raise RestError("gig_forbidden", "This gig is not yours.", 403)
        if body["content"] != self.posts[post].upper():
            raise RestError("gig_wrong", "That is not what was asked for.", 409)
        for comment, about in self.comments.items():
            if about == post:
                return Response(200, self.comment(comment, "hold"))
        comment = 9000 + len(self.comments)
        self.comments[comment], self.looks[comment] = post, 0
        return Response(200, self.comment(comment, "hold"))

    def comment(self, comment: int, status: str) -> dict[str, Any]:
        return {"comment": comment, "post": self.comments[comment], "status": status}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, request: Request) -> Response:
        comment = params(request, comment=int)["comment"]
        if comment not in self.comments:
            raise RestError("rest_comment_invalid_id", "Invalid comment ID.", 404)
        if self.looks[comment] < LOOKS_BEFORE_APPROVED:
            self.looks[comment] += 1
            words = "The comment is awaiting moderation."
            return Response(202, {**self.comment(comment, "hold"), "message": words})
        post = self.comments[comment]
        if str(post) not in self.book.paid:
            self.book.pay(str(post), self.credits[post])
        return Response(
            200,
            {**self.comment(comment, "approved"), "credits_earned": self.credits[post]},
        )
