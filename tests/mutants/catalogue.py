"""Every planted bug: which promise it breaks, and which suite finds it.

Those of the simulation replace a function in memory (`tests/simulation/mutants.py`);
they are named here under the promise that they break. The others change one place of
the source, in a copy of it, and a test that stands beside them has to fail.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceMutant:
    """A bug that a test finds: one place of the source, and what is there instead."""

    name: str
    file: str
    """Below `src/journeyman/`."""
    right: str
    """What stands there, exactly once."""
    wrong: str
    found_by: str
    """Below `tests/`: a file, or one test in it."""


WORK = "Work that was claimed is done at least once"
ONE_RESULT = "One task has one result, the same to the byte each time it is sent"
ONE_AGENT = "There is never a second agent by accident"
CLAIMS = "No claim is forgotten"
RESULTS = "No result is lost"
SPENDS = "Nothing is spent twice"
BOOKS = "Every credit is in the books"
TOKEN = "The token goes nowhere that it does not belong"  # noqa: S105 - a heading
STEERING = "Only its owner steers it"

FOUND_BY_SIMULATION: Mapping[str, tuple[str, ...]] = {
    WORK: (
        *("forget_executing", "timeout_goes_on", "missed_wakeup", "spin_after_step"),
        *("zombie", "work_in_vain"),
    ),
    ONE_RESULT: ("result_late", "no_maybe"),
    ONE_AGENT: ("token_late", "answer_forgotten_early", "another_token_saved"),
    CLAIMS: ("claim_first", "trust_409", "no_doubt", "lease_ignored"),
    RESULTS: (
        *("repeat_is_refusal", "give_up_delivery", "trust_one_404", "no_backoff"),
        "no_completions_after_one_404",
        *("no_cap", "no_deadline", "unguarded_json", "retry_after_ignored"),
    ),
    SPENDS: (
        *("release_unknown", "release_at_recovery", "spend_unmarked", "spend_again"),
        *("budget_race", "settled_only", "unknown_unheld", "top_ups_uncapped"),
        *("periods_unlimited", "no_floor", "lost_answer_never_sent"),
    ),
    BOOKS: (
        *("booked_apart", "entries_without_a_key"),
        *("top_up_unbooked", "differences_unexplained"),
    ),
    TOKEN: ("token_logged", "redirect_leak", "echo_unhidden", "leaks_unseen"),
    STEERING: (),  # nobody steers a simulated daemon but its owner
}
"""By promise, a heading of `docs/explanation/promises.md`."""

FOUND_BY_TESTS: Mapping[str, tuple[SourceMutant, ...]] = {
    WORK: (
        SourceMutant(
            "our own words are the work",
            "network/answers.py",
            "if path and repr(value) not in known and value not in said",
            "if path and repr(value) not in known",
            "network/test_withheld_texts.py",
        ),
        SourceMutant(
            "any move is made",
            "journal/tasks.py",
            "    if not tasks.is_allowed(before, after):",
            "    if not before:",
            "journal/test_moves.py",
        ),
        SourceMutant(
            "a stale move is made",
            "journal/tasks.py",
            '"updated_at = ? WHERE task_id = ? AND state = ?",',
            "\"updated_at = ? WHERE task_id = ? AND ? != ''\",",
            "journal/test_moves.py",
        ),
        SourceMutant(
            "a clock that is set forward holds the loop",
            "daemon/schedule.py",
            "if found is not None and found <= now:",
            "if found is None:",
            "daemon/test_schedule.py",
        ),
        SourceMutant(
            "who prints much waits for the loop that it holds",
            "daemon/output.py",
            "if piece := os.read(self.descriptor, PIECE):",
            'if piece := b"":',
            "daemon/test_output.py"
            "::test_who_writes_much_does_not_wait_for_the_loop_that_it_holds",
        ),
        SourceMutant(
            "a folder too deep to remove",
            "strategies/child/metadata.py",
            "if _identity(here) != was:",
            "if len(above) > 1_000:",
            "strategies/test_confinement.py"
            "::test_a_folder_is_removed_however_deep_and_closed_it_is",
        ),
    ),
    ONE_RESULT: (
        SourceMutant(
            "a server that fell over is sent another body",
            "network/service_model/search.py",
            'read_refusal(outcome.answer, "", body, is_prose_read=False)',
            'read_refusal(outcome.answer, "", body)',
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "a result is written anew",
            "journal/tasks.py",
            "SET result = coalesce(result, ?)",
            "SET result = ?",
            "journal/test_moves.py",
        ),
    ),
    ONE_AGENT: (
        SourceMutant(
            "no sync of the identity",
            "journal/files.py",
            "        write_all(descriptor, content)\n        os.fsync(descriptor)",
            "        write_all(descriptor, content)",
            "journal/test_identity.py",
        ),
        SourceMutant(
            "two daemons",
            "journal/directory.py",
            "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
            "fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)",
            "journal/test_directory.py",
        ),
        SourceMutant(
            "asked again after a yes",
            "worker/join.py",
            'return _stored(self.journal).get("answered_by") == self.base_url',
            "return False",
            "worker/test_join.py",
        ),
    ),
    CLAIMS: (
        SourceMutant(
            "what is paid and counts as held is held for ever",
            "worker/claim.py",
            "held[-1] if held else None",
            "None",
            "worker/test_slots.py",
        ),
        SourceMutant(
            "whoever holds as many as may be asks for more",
            "worker/claim.py",
            "if limit := at_work or max(told, default=0):",
            "if limit := 0:",
            "worker/test_slots.py",
        ),
        SourceMutant(
            "words stand for a task",
            "network/service_model/writing.py",
            "        if min(own) <= _MEANT:",
            "        if min(own) > TOO_DEAR:",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "the task's id stands under the name of what a claim made",
            "network/service_model/writing.py",
            "        return is_given and not is_ours and is_telling",
            "        return is_ours and is_given and is_telling",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "a short text of a task is handed in",
            "network/service_model/search.py",
            "                and value == task.text\n",
            "                and value == task.id\n",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "what unknown words meant is forgotten",
            "network/service_model/model.py",
            "if one.phrase and one.fault is Fault.MISSING",
            "if one.phrase and one.fault is Fault.UNKNOWN",
            "network/service_model/test_unknown_words.py",
        ),
        SourceMutant(
            "an object that is there lacks no member of its name",
            "network/service_model/model.py",
            "return is_asked and was_seen and self._is_object(path)",
            "return False",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "a missed name is sought in the outer objects alone",
            "network/service_model/model.py",
            "places = (p for p in (*outer, *inner) if p not in tried)",
            "places = (p for p in outer if p not in tried)",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "an object of an answer is sent whole though its members are told",
            "network/service_model/model.py",
            'is_bare = wanted.wants == "object" and wanted.path not in told',
            'is_bare = wanted.wants == "object"',
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "a form that is shown says nothing of the value",
            "network/service_model/writing.py",
            "if wanted.form and _has_form(value, wanted.form):",
            "if False:",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "a yes is never a no",
            "network/service_model/writing.py",
            "yield 0.9, Placed(path, constant=is_no)",
            "yield 9.0, Placed(path, constant=is_no)",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "what is missed is in the object that we have guessed",
            "network/service_model/model.py",
            "if not (self.is_flat or lacking.isdisjoint(self.beside)):",
            "if False:",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "a value beside the words of its name is about nothing",
            "network/service_model/refusals.py",
            "or _named_beside_its_value(told, sent)",
            "or []",
            "network/service_model/test_refusals.py",
        ),
        SourceMutant(
            "what a library writes is read as it is",
            "network/service_model/refusals.py",
            "text = in_short(value)",
            "text = value",
            "network/service_model/test_said_by_frameworks.py",
        ),
        SourceMutant(
            "a task is given up for a stand-in of ours",
            "network/service_model/search.py",
            "is_of_field or is_stand_in or (is_value and is_ours)",
            "is_of_field",
            "network/service_model/test_unknown_words.py",
        ),
        SourceMutant(
            "a task is given up for a wrong guess of ours",
            "network/service_model/search.py",
            "            return is_of_ours or is_guess or is_of_function",
            "            return is_of_ours or is_of_function",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "the last part of an id stands for the whole",
            "network/service_model/writing.py",
            'return "task_id" in refused and not is_usual',
            "return True",
            "network/service_model/test_search.py",
        ),
        SourceMutant(
            "a no that is written as 0 is a yes",
            "network/service_model/reading.py",
            '**dict.fromkeys(("false", "no", "n", "0"), False),',
            '**dict.fromkeys(("false", "no", "n", "0"), True),',
            "network/test_classify.py",
        ),
        SourceMutant(
            "due too early",
            "journal/tasks.py",
            "next_at <= ? OR",
            "next_at <= ? + 3600 OR",
            "journal/test_decisions.py",
        ),
        SourceMutant(
            "a task of the past is new",
            "journal/tasks.py",
            "(task_id for task_id in task_ids if task_id not in known)",
            "([])",
            "journal/test_past_tasks.py",
        ),
    ),
    RESULTS: (
        SourceMutant(
            "the row that a database refuses tells a verdict",
            "network/wording.py",
            'return _ROW.sub("", said)',
            "return said",
            "network/test_progress.py",
        ),
        SourceMutant(
            "a choice takes the place of the work",
            "network/service_model/refusals.py",
            'if not told or " " in str(there):',
            "if not told:",
            "network/service_model/test_refusals.py",
        ),
        SourceMutant(
            "no sync of the journal",
            "journal/database.py",
            "PRAGMA synchronous = FULL",
            "PRAGMA synchronous = OFF",
            "journal/test_file.py::test_every_commit_waits_for_the_disk",
        ),
        SourceMutant(
            "a failed step is kept",
            "journal/database.py",
            'self._undo("ROLLBACK")',
            'self._connection.execute("COMMIT")',
            "journal/test_transactions.py",
        ),
        SourceMutant(
            "a clock that is set makes results old",
            "worker/intents.py",
            "now = min(self.clock.now(), steady)",
            "now = self.clock.now()",
            "worker/test_life_of_a_task.py"
            "::test_a_clock_that_is_set_by_years_makes_no_result_old",
        ),
        SourceMutant(
            "a clock that was ahead ends the backups",
            "daemon/backups.py",
            "is_new = any(timedelta() <= age < EVERY for age in ages)",
            "is_new = any(age < EVERY for age in ages)",
            "daemon/test_backups.py",
        ),
        SourceMutant(
            "archived twice after a kill",
            "journal/archives.py",
            "            os.ftruncate(descriptor, length)\n",
            "            pass\n",
            "journal/test_archives.py",
        ),
        SourceMutant(
            "a lost answer was never sent",
            "network/http.py",
            "    httpx.PoolTimeout,\n",
            "    httpx.PoolTimeout,\n    httpx.RemoteProtocolError,\n",
            "network/test_bad_days.py",
        ),
    ),
    SPENDS: (
        SourceMutant(
            "no limit of a day",
            "economy/budget.py",
            "if weight + amount <= limit.most:",
            "if weight <= limit.most:",
            "economy/test_budget.py",
        ),
        SourceMutant(
            "the day is that of UTC",
            "economy/budget.py",
            "day = local.date() if period",
            "day = now.date() if period",
            "economy/test_budget.py",
        ),
        SourceMutant(
            "models are paid without a limit",
            "daemon/wiring.py",
            "if is_over_cost(agent.limits, agent.journal, now, strategy):",
            "if False:",
            "daemon/test_costs.py",
        ),
        SourceMutant(
            "two posts for one slot of a plan",
            "economy/plan.py",
            "is_free = all(one.state is SpendState.RELEASED for one in tries)",
            "is_free = True",
            "economy/test_plan.py",
        ),
        SourceMutant(
            "a plan spends without its limit",
            "economy/posting.py",
            "more=[planned.limit] if planned else (),",
            "more=(),",
            "economy/test_plan.py",
        ),
        SourceMutant(
            "strategies spend what is low",
            "economy/budget.py",
            "if not by_hand and available - reward < limits.low_credits:",
            "if False:",
            "economy/test_credit_state.py",
        ),
        SourceMutant(
            "no reserve",
            "economy/budget.py",
            "if available - reward < limits.reserve_credits:",
            "if available < limits.reserve_credits:",
            "economy/test_budget.py",
        ),
        SourceMutant(
            "no caps on real money",
            "economy/budget.py",
            "_check(limit, journal, now, limits.zone, cents)",
            "_check(limit, journal, now, limits.zone, 0)",
            "economy/test_topup.py",
        ),
        SourceMutant(
            "a pause asks for payment pages",
            "economy/topup.py",
            "if ALL_WORK in self.journal.owner_pauses.current(self.clock.now()):",
            "if False:",
            "economy/test_topup_watch.py",
        ),
        SourceMutant(
            "one need, two pages",
            "economy/topup.py",
            "if self.policy.mode is TopUpMode.OFF or self._is_asked():",
            "if self.policy.mode is TopUpMode.OFF:",
            "economy/test_topup_watch.py",
        ),
        SourceMutant(
            "a page while another is asked for",
            "economy/topup.py",
            "if waiting:  # since the look that led here",
            "if False:  # since the look that led here",
            "economy/test_catalogue.py",
        ),
        SourceMutant(
            "a second try is a second page",
            "economy/topup.py",
            "        self.expire()\n        if twin := self._twin(pack):",
            "        self.expire()\n        if twin := None:",
            "economy/test_topup.py",
        ),
        SourceMutant(
            "what was declined is proposed again",
            "economy/topup.py",
            "if last is None or last.state not in DECLINED:",
            "if True:",
            "economy/test_topup_watch.py",
        ),
        SourceMutant(
            "a lost answer expires",
            "economy/topup.py",
            "elif spend.state is SpendState.OPEN:",
            "else:",
            "economy/test_topup_watch.py",
        ),
        SourceMutant(
            "an expired page counts no more",
            "journal/spends.py",
            "'declined', 'cancelled')",
            "'declined', 'cancelled', 'expired')",
            "economy/test_topup_watch.py",
        ),
        SourceMutant(
            "a changed price is asked for",
            "economy/catalogue.py",
            "if any(_price(one) == _price(pack) for one in same):",
            "if same:",
            "economy/test_catalogue.py",
        ),
        SourceMutant(
            "the largest pack is asked for",
            "economy/catalogue.py",
            "return min(lifting,",
            "return max(lifting,",
            "economy/test_catalogue.py",
        ),
        SourceMutant(
            "growth spends more than its share",
            "economy/growth.py",
            "elif verdict.spent + verdict.cost > verdict.allowed:",
            "elif verdict.spent > 100 * verdict.allowed:",
            "economy/test_growth.py",
        ),
        SourceMutant(
            "growth goes on by chance",
            "economy/growth.py",
            "return mean(self.gains) - ERRORS * self.error if self.gains else 0.0",
            "return mean(self.gains) if self.gains else 0.0",
            "economy/test_growth.py",
        ),
        SourceMutant(
            "an expired post is taken for refunded",
            "economy/following.py",
            "if sighting.is_refunded:",
            "if state is PostState.OVER:",
            "economy/test_following.py",
        ),
        SourceMutant(
            "a refund is more than the post holds",
            "economy/bookkeeping.py",
            "is_known = claimed is not None and 0 < claimed <= held",
            "is_known = claimed is not None",
            "economy/test_following.py",
        ),
        SourceMutant(
            "a fee weighs on no limit",
            "journal/spends.py",
            '"SELECT sum(credits + fee) FROM spends "',
            '"SELECT sum(credits) FROM spends "',
            "economy/test_following.py",
        ),
        SourceMutant(
            "unexplained losses are let pass",
            "economy/budget.py",
            "if lost <= limits.unexplained_per_day_credits:",
            "if lost >= 0:",
            "economy/test_budget.py",
        ),
        SourceMutant(
            "what came makes up for what left",
            "journal/ledger.py",
            "AND amount < 0 AND at >= ?",
            "AND at >= ?",
            "economy/test_budget.py",
        ),
        SourceMutant(
            "a page may be a subscription's",
            "economy/topup.py",
            "if is_subscription(session.mode) and not subscription:",
            "if False:",
            "economy/test_topup.py",
        ),
        SourceMutant(
            "a late payment is unexplained",
            "economy/reconcile.py",
            "    SpendState.CANCELLED,\n",
            "",
            "economy/test_reconcile.py",
        ),
        SourceMutant(
            "negative pay is believed",
            "domain/plausibility.py",
            "    if credits_ < 0:",
            "    if credits_ < -1_000_000:",
            "domain/test_plausibility.py",
        ),
        SourceMutant(
            "pay beyond the listing is believed",
            "domain/plausibility.py",
            "credits_ = min(whole, listed) if listed else whole",
            "credits_ = whole",
            "worker/test_life_of_a_task.py::test_more_than_was_listed_is_booked_when_a_balance_shows_it",
        ),
        SourceMutant(
            "any address is a payment page",
            "domain/plausibility.py",
            'if parts.scheme not in {"https", "http"} or not has_host:',
            "if not parts.scheme:",
            "domain/test_plausibility.py",
        ),
        SourceMutant(
            "an older journal is like any",
            "economy/mark.py",
            "if mark is not None and is_behind(self.journal, mark):",
            "if mark is None:",
            "economy/test_mark.py",
        ),
        SourceMutant(
            "a damaged reservation is worked on",
            "journal/maintenance.py",
            'or _damage(database, "integrity_check(spends)")',
            "or []",
            "journal/test_maintenance.py",
        ),
    ),
    BOOKS: (
        SourceMutant(
            "a number that the listing does not have is pay",
            "worker/unnamed_pay.py",
            "for one, was in listed.items() if was == pay)",
            "for one, was in listed.items())",
            "worker/test_unnamed_pay.py",
        ),
        SourceMutant(
            "an honorarium is no pay",
            "network/service_model/reading.py",
            "bounty honorarium stipend",
            "bounty stipend",
            "network/test_answers.py",
        ),
        SourceMutant(
            "a result under review is booked",
            "worker/complete.py",
            "        if self._submissions(record)[-1] == UNDER_REVIEW:",
            "        if self._submissions(record)[-1] == NO_COMPLETION:",
            "worker/test_progress.py",
        ),
        SourceMutant(
            "a yes that moves nothing is booked",
            "worker/complete.py",
            "                if record.reviews < MOST_UNMOVED:\n",
            "                if record.reviews < 0:\n",
            "worker/test_progress.py",
        ),
        SourceMutant(
            "a no that names a time to ask again ends the work",
            "worker/intents.py",
            "        and failure.retry_after is not None\n",
            "        and failure.retry_after == 0\n",
            "worker/test_progress.py",
        ),
        SourceMutant(
            "what was changed is archived",
            "journal/ledger_archives.py",
            "        _require_whole(rows, last)\n",
            "",
            "journal/test_ledger_archives.py",
        ),
        SourceMutant(
            "what is owed leaves the journal",
            "journal/ledger_archives.py",
            "return is_old and not sums[ACCOUNT_TOTAL + RECEIVABLE]",
            "return is_old",
            "journal/test_ledger_archives.py",
        ),
        SourceMutant(
            "an entry is deleted before it is archived",
            "journal/ledger_archives.py",
            'all(row["entry_id"] <= until for row in rows)',
            "True",
            "journal/test_ledger_archives.py",
        ),
        SourceMutant(
            "`done: false` is read as done",
            "network/answers.py",
            "            progress = Progress.IN_REVIEW  # an operation that goes on",
            "            progress = Progress.DONE",
            "network/test_progress.py",
        ),
        SourceMutant(
            "a reward that is named in a review is booked",
            "network/answers.py",
            "and earned is None and not is_going_on:",
            "and earned is None:",
            "network/test_answers.py",
        ),
        SourceMutant(
            "an entry may be changed",
            "journal/ledger.py",
            'is_changed = row["hash"] != entry_hash(values)',
            'is_changed = not row["hash"]',
            "journal/test_ledger.py",
        ),
        SourceMutant(
            "credits come from nowhere",
            "journal/ledger.py",
            "((account, new.amount), (contra, -new.amount))",
            "((account, new.amount), (contra, 0))",
            "journal/test_ledger.py",
        ),
        SourceMutant(
            "a hash leaves the accounts out",
            "journal/ledger.py",
            'if values["version"] != 1:',
            'if values["version"] > HASH_VERSION:',
            "journal/test_ledger.py",
        ),
        SourceMutant(
            "nobody compares the ledger with tasks and spends",
            "journal/maintenance.py",
            "return chain or list(_disagreements(journal.database))",
            "return chain",
            "journal/test_maintenance.py",
        ),
        SourceMutant(
            "a damaged balance is worked on",
            "journal/maintenance.py",
            "or _broken_ledger(journal, last=LAST_ENTRIES)",
            "or []",
            "journal/test_maintenance.py",
        ),
        SourceMutant(
            "what nobody named is 0",
            "economy/bookkeeping.py",
            "return listed if listed > 0 else None",
            "return listed",
            "worker/test_books.py",
        ),
        SourceMutant(
            "what is delivered is not owed",
            "economy/bookkeeping.py",
            "amount=max(0, listed),",
            "amount=0,",
            "worker/test_books.py",
        ),
        SourceMutant(
            "rejected work stays owed",
            "economy/bookkeeping.py",
            "if ledger.owed(task_id):",
            "if ledger.owed(task_id) is None:",
            "worker/test_books.py",
        ),
        SourceMutant(
            "a reward that nobody named is not owed",
            "journal/ledger.py",
            "OR sum(kind != 'delivered') = 0)",
            "OR 0)",
            "cli/test_answers.py::test_what_is_owed_is_listed_with_its_age",
        ),
        SourceMutant(
            "a cost that nobody reported is 0",
            "journal/profit.py",
            "cost, NULL)) AS cost",
            "cost, 0)) AS cost",
            "journal/test_profit.py",
        ),
        SourceMutant(
            "pay that nobody named is 0",
            "journal/profit.py",
            "is_unknown = 0 < self.tasks == self.pay_unknown",
            "is_unknown = False",
            "journal/test_profit.py",
        ),
    ),
    TOKEN: (
        SourceMutant(
            "a foreign identity is used",
            "network/client.py",
            "if not same_network(identity.base_url, self._base_url):",
            "if not identity.base_url:",
            "network/test_addresses.py",
        ),
        SourceMutant(
            "the token goes to public endpoints",
            "network/client.py",
            "self._identity.access_token if private and self._identity else None",
            "self._identity.access_token if self._identity else None",
            "network/test_requests_on_the_wire.py",
        ),
        SourceMutant(
            "a request is sent again when its connection closes",
            "network/transport.py",
            'is_safe = kept is not None and request.method == "GET"',
            "is_safe = kept is not None",
            "network/test_transport.py",
        ),
        SourceMutant(
            "an answer that nobody asked for is given to the next request",
            "network/transport.py",
            "        if self._is_whole:\n            raise ValueError",
            "        if self._is_resting:\n            raise ValueError",
            "network/test_transport.py",
        ),
        SourceMutant(
            "any certificate will do",
            "network/transport.py",
            'ssl=self._context if scheme == "https" else None',
            'ssl=ssl._create_unverified_context() if scheme == "https" else None',
            "network/test_transport.py",
        ),
        SourceMutant(
            "no secret is hidden",
            "observability/redaction.py",
            "        while reading := self._reading_of(text):",
            "        while (reading := self._reading_of(text)) and not text:",
            "observability/test_redaction.py",
        ),
        SourceMutant(
            "an echoed token is kept",
            "observability/redaction.py",
            "        while reading := self._reading_of(text):",
            "        while (reading := self._reading_of(text)) and not text:",
            "network/test_echo.py",
        ),
        SourceMutant(
            "results are not scanned",
            "strategies/running/leaks.py",
            "                if check(text):",
            "                if check(text) and not text:",
            "strategies/test_leaks.py",
        ),
        SourceMutant(
            "a model is told our values",
            "network/service_model/suggestions.py",
            "        if len(value) >= SHORTEST_VALUE:",
            "        if len(value) > LONGEST_WORDS:",
            "network/service_model/test_suggestions.py",
        ),
        SourceMutant(
            "a model's key goes out unencrypted",
            "network/service_model/suggestions.py",
            "        if is_open and (key_variable or key_file):",
            "        if is_open and key_file:",
            "network/service_model/test_suggestions.py",
        ),
        SourceMutant(
            "the folder does not end",
            "strategies/child/metadata.py",
            "if Path(self._home) not in _link(opened).readlink().parents:",
            "if not self._home:",
            "strategies/test_confinement.py",
        ),
        SourceMutant(
            "the data directory may be watched",
            "strategies/child/syscall_filter.py",
            'refused = f"{OLD_METADATA} {SHARED_OBJECTS} {WATCHES}"',
            'refused = f"{OLD_METADATA} {SHARED_OBJECTS}"',
            "strategies/test_confinement.py::test_the_side_doors_are_shut",
        ),
        SourceMutant(
            "a strategy changes what stands for it in the daemon",
            "strategies/child/description.py",
            'name.isidentifier() and not name.startswith("_")',
            "name.isidentifier()",
            "daemon/test_confined.py"
            "::test_no_parameter_changes_what_stands_for_a_strategy_in_the_daemon",
        ),
        SourceMutant(
            "the identity is for everybody",
            "journal/files.py",
            "        os.fchmod(descriptor, PRIVATE_FILE)",
            "        os.fchmod(descriptor, 0o644)",
            "journal/test_identity.py",
        ),
    ),
    STEERING: (
        SourceMutant(
            "a rebound name opens the page",
            "web/access.py",
            'return name in {"localhost", *self.names} or _is_in_digits(name)',
            "return True",
            "web/test_access.py::test_a_name_that_was_rebound_to_us_shows_nothing",
        ),
        SourceMutant(
            "another site's form commands",
            "web/access.py",
            'is_ours = origin.netloc == request.headers.get("host")',
            "is_ours = True",
            "web/test_access.py::test_a_form_on_another_web_site_commands_nothing",
        ),
        SourceMutant(
            "a form needs no token",
            "web/access.py",
            "return is_ours and hmac.compare_digest(given, "
            "self.form_token(request).encode())",
            "return is_ours",
            "web/test_access.py::test_a_form_without_our_token_commands_nothing",
        ),
        SourceMutant(
            "guessing costs no time",
            "web/access.py",
            "await self.clock.sleep(SECONDS_AFTER_A_WRONG_PASSWORD)",
            "await self.clock.sleep(0)",
            "web/test_access.py::test_who_guesses_over_many_connections_is_not_faster",
        ),
        SourceMutant(
            "strangers' words are markup",
            "web/pages.py",
            "autoescape=True",
            "autoescape=False",
            "web/test_pages.py::test_the_words_of_strangers_are_shown_and_never_obeyed",
        ),
    ),
}
"""By promise."""
