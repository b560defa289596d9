"""A forum in the manner of Reddit: things and fullnames, Listings, and polite 200s.

A task is a post (t3) that offers a bounty. Whoever takes it replies with a comment (t1);
the right comment is paid at once, and marking it as the solution closes the post.
Mistakes in a form are answered with 200 and a list of [NAME, sentence, field].
"""

import json
import secrets
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

_POSTS = [
    ("1k2m9x", "Shout my cat's motto", "naps first, questions later", 30),
    ("1k2mcd", "Caps for a protest sign", "more benches in the park", 55),
    ("1k2n04", "Yell this lyric", "oh how the river runs", 12),
    ("1k2n7q", "Loud poster line", "jazz night at the café", 80),
    ("1k2p3b", "Team slogan in capitals", "row hard, row together", 22),
    ("1k2p9z", "Old telegram style", "arriving tuesday stop bring umbrella", 45),
    ("1k2q11", "Road sign for my model town", "slow down for ducks", 17),
]


class _Refused(Exception):  # noqa: N818
    """One entry of the list of errors."""


class RedditBoard(Backend):
    """Reddit's manner: kind/data wrappers, `after` paging, errors inside a 200."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, str] = {}  # token -> user name
        self._taken: dict[str, str] = {}  # post -> user name
        self._comments: dict[str, dict[str, Any]] = {}
        self._posts: dict[str, dict[str, Any]] = {
            f"t3_{id_}": {
                "id": id_,
                "name": f"t3_{id_}",
                "subreddit": "ShoutItForMe",
                "author": "loudhailer",
                "title": title,
                "selftext": text,
                "selftext_html": None,
                "is_self": True,
                "link_flair_text": "Open",
                "bounty": bounty,
                "num_comments": 0,
                "locked": False,
                "created_utc": 1741075200.0 + 600 * n,
                "permalink": f"/r/ShoutItForMe/comments/{id_}/",
            }
            for n, (id_, title, text, bounty) in enumerate(_POSTS)
        }

    def texts(self) -> dict[str, str]:
        return {name: post["selftext"] for name, post in self._posts.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"message": "Not Found", "error": 404})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user = "t2_" + secrets.token_hex(4)
        token = secrets.token_urlsafe(24)
        self._users[token] = user
        return Response(
            200,
            {
                "agent_id": user,
                "access_token": token,
                "credits": 100,
                "token_type": "bearer",
                "scope": "*",
            },
        )

    def agents(self, request: Request) -> Response:
        users = [{"kind": "t2", "data": {"name": u}} for u in self._users.values()]
        return Response(200, self._listing(users, None))

    directory = agents

    @staticmethod
    def _listing(children: list[Any], after: str | None) -> dict[str, Any]:
        data = {
            "after": after,
            "dist": len(children),
            "children": children,
            "before": None,
        }
        return {"kind": "Listing", "data": data}

    def tasks(self, request: Request) -> Response:
        """List the posts, newest first; a limit out of bounds is quietly put in bounds."""
        limit = request.query.get("limit", "")
        size = min(max(int(limit), 1), 100) if limit.isdecimal() else 25
        names = list(self._posts)[::-1]
        after = request.query.get("after", "")
        if after in names:
            names = names[names.index(after) + 1 :]
        page = [{"kind": "t3", "data": self._posts[n]} for n in names[:size]]
        return Response(
            200, self._listing(page, names[size - 1] if names[size:] else None)
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._form(request, self._claim)

    def submit(self, request: Request) -> Response:
        return self._form(request, self._submit)

    def complete(self, request: Request) -> Response:
        return self._form(request, self._complete)

    def _form(self, request: Request, act: Any) -> Response:
        user = self._users.get(request.token)
        if not user:
            return Response(
                401,
                {"message": "Unauthorized", "error": 401},
                {"WWW-Authenticate": 'Bearer realm="reddit", error="invalid_token"'},
            )
        try:
            if "urlencoded" in (request.headers.get("Content-Type") or ""):
                body: Any = dict(parse_qsl(request.raw.decode()))
            else:
                body = json.loads(request.raw or b"{}")
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return Response(400, {"message": "Bad Request", "error": 400})
        try:
            kind, data = act(user, body)
        except _Refused as no:
            return Response(200, {"json": {"errors": [list(no.args)]}}, refused=True)
        things = {"things": [{"kind": kind, "data": data}]}
        return Response(200, {"json": {"errors": [], "data": things}})

    def _thing(
        self, body: dict[str, Any], field: str, prefix: str, things: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the thing whose fullname stands in a field."""
        name = body.get(field)
        if not name:
            raise _Refused("NO_THING_ID", "id not specified", field)
        if not isinstance(name, str) or not name.startswith(prefix):
            what = "link" if prefix == "t3_" else "comment"
            sentence = f"that is not the fullname of a {what} ({prefix}...)"
            raise _Refused("BAD_FULLNAME", sentence, field)
        if name not in things:
            raise _Refused("THING_NOT_FOUND", "that thing does not exist", field)
        found: dict[str, Any] = things[name]
        return found

    def _claim(self, user: str, body: dict[str, Any]) -> tuple[str, Any]:
        post = self._thing(body, "thing_id", "t3_", self._posts)
        if post["name"] in self._taken:
            raise _Refused(
                "ALREADY_TAKEN", "somebody has taken that already", "thing_id"
            )
        self._taken[post["name"]] = user
        self.book.claimed(post["name"])
        post["link_flair_text"] = "Taken"
        return "t3", post

    def _submit(self, user: str, body: dict[str, Any]) -> tuple[str, Any]:
        post = self._thing(body, "thing_id", "t3_", self._posts)
        text = body.get("text")
        if not isinstance(text, str) or not text.strip():
            raise _Refused("NO_TEXT", "we need something here", "text")
        if len(text) > 10000:
            raise _Refused("TOO_LONG", "this is too long (max: 10000)", "text")
        if post["name"] not in self._taken:
            raise _Refused(
                "NOT_TAKEN", "take this post before you reply to it", "thing_id"
            )
        if self._taken[post["name"]] != user:
            raise _Refused("NOT_AUTHOR", "you can't do that", "thing_id")
        if post["link_flair_text"] != "Taken":
            raise _Refused("THREAD_LOCKED", "Comments are locked.", "thing_id")
        if text != post["selftext"].upper():
            raise _Refused(
                "SUBMIT_VALIDATION_BODY_REQUIREMENT",
                "your comment must be the text of the post in capitals, and nothing else",
                "text",
            )
        comment = {
            "id": (id_ := secrets.token_hex(4)),
            "name": f"t1_{id_}",
            "link_id": post["name"],
            "parent_id": post["name"],
            "author_fullname": user,
            "body": text,
            "awarded": post["bounty"],
            "is_solution": False,
        }
        self._comments[f"t1_{id_}"] = comment
        post["link_flair_text"] = "Answered"
        post["num_comments"] += 1
        self.book.pay(post["name"], post["bounty"])
        return "t1", comment

    def _complete(self, user: str, body: dict[str, Any]) -> tuple[str, Any]:
        comment = self._thing(body, "id", "t1_", self._comments)
        if comment["author_fullname"] != user:
            raise _Refused("NOT_AUTHOR", "you can't do that", "id")
        # A form writes its booleans as words.
        state = {"true": True, "false": False}.get(str(body.get("state")).lower())
        if state is None:
            raise _Refused("BAD_BOOLEAN", "state must be true or false", "state")
        post = self._posts[comment["link_id"]]
        if not state:
            raise _Refused(
                "INVALID_OPTION", "that option is not valid (use true)", "state"
            )
        if comment["is_solution"]:
            raise _Refused("ALREADY_SOLVED", "this post is solved already", "id")
        comment["is_solution"] = True
        post["link_flair_text"] = "Solved"
        post["locked"] = True
        return "t3", post
