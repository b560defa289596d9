"""Everything that we assume about what the contract does not show.

The contract names the endpoints and leaves most bodies, all errors and the list of
private endpoints "not shown". Each assumption about an answer is a field of
`Vocabulary`, and none is anywhere else. How our requests are written is found out, in
`journeyman.network.service_model.search`. `docs/reference/service-model.md` tells the
same as prose.

Names are compared without case, `_`, `-`, `.` and spaces: `task_id` also means
`taskId`, `TaskID` and `task-id`. Of several names the first in order wins that has a
usable value.
"""

from dataclasses import dataclass

from journeyman.domain.outcomes import Refusal
from journeyman.network.service_model.naming import in_order, word_set


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint:
    """Words in a body that say more than the status does."""

    meaning: Refusal | None
    """None: it is not known whether it happened."""
    words: tuple[str, ...] = ()
    """Parts of an error code or of a message, lower case."""
    codes: frozenset[str] = frozenset()
    """Whole error codes, in snake_case."""
    statuses: frozenset[int] = frozenset()
    """Refusals that the hint outweighs, besides a 2xx that says no."""


HINTS: tuple[Hint, ...] = (
    Hint(
        meaning=Refusal.UNAFFORDABLE,
        words=(
            "insufficient credit",
            "insufficient balance",
            "insufficient fund",
            "not enough credit",
            "not enough balance",
            "too few credits",
        ),
        codes=word_set("payment_required credits_required"),
        statuses=frozenset({400, 403, 409, 422}),
    ),
    Hint(
        meaning=Refusal.CONFLICT,
        words=("already",),
        codes=word_set(
            "conflict taken task_taken claimed not_open task_not_open "
            "not_available task_not_available task_unavailable own_task own_post",
        ),
        statuses=frozenset({400, 403, 422}),
    ),
    Hint(
        meaning=Refusal.REJECTED,
        codes=word_set(
            "result_rejected rejected wrong_result wrong_answer invalid_result"
        ),
        statuses=frozenset({400, 409, 422}),
    ),
    # The rest only tells what a 2xx that says no means: a plain status is clearer.
    Hint(
        meaning=Refusal.UNAUTHORIZED,
        codes=word_set(
            "unauthorized unauthorised unauthenticated forbidden invalid_token "
            "token_expired invalid_jwt",
        ),
    ),
    Hint(
        meaning=Refusal.ABSENT,
        codes=word_set("not_found task_not_found unknown_task gone not_implemented"),
    ),
    Hint(
        meaning=Refusal.THROTTLED,
        codes=word_set("rate_limited rate_limit rate_limit_exceeded too_many_requests"),
    ),
    Hint(
        meaning=Refusal.INVALID,
        codes=word_set(
            "bad_request invalid_request invalid_body missing_field "
            "validation_error validation_failed",
        ),
    ),
    Hint(
        meaning=None,
        codes=word_set(
            "internal_error internal_server_error server_error "
            "service_unavailable unavailable timeout timed_out",
        ),
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """How a network is assumed to speak where the contract is silent."""

    # Which endpoints take the bearer token: the runtime actions, and discovering
    # tasks, which the contract lists among what "the agent uses the token" for.
    private: frozenset[str] = frozenset(
        {"marketplace_tasks", "claim", "submit", "complete", "post_task"},
    )
    idempotency_header: str = "Idempotency-Key"
    """Carries the same value in each repeat of one request."""

    # A task record. The most telling name comes first: where a record has both
    # `id` and `task_id`, the former is likely a row number.
    id: tuple[str, ...] = in_order("task_id id task_uuid uuid identifier task_ref")
    title: tuple[str, ...] = in_order(
        "title task_title name task_name headline subject"
    )
    description: tuple[str, ...] = in_order(
        "description task_description desc details instructions prompt brief "
        "objective summary task",
    )
    kind: tuple[str, ...] = in_order(
        "kind task_kind task_type type category task_category job_type",
    )
    kind_of_everything: frozenset[str] = frozenset({"task", "tasks"})
    """A `type` that only says "this is a task" is not a kind."""
    text: tuple[str, ...] = in_order("text input_text source_text content passage body")
    input: tuple[str, ...] = in_order(
        "input inputs task_input input_data payload data params parameters "
        "arguments context",
    )
    tags: tuple[str, ...] = in_order(
        "tags labels skills required_skills capabilities required_capabilities "
        "categories topics keywords",
    )
    reward: tuple[str, ...] = in_order(
        "reward reward_credits credit_reward credits_reward credits bounty "
        "payout price price_credits budget payment amount compensation",
    )
    reward_amount: tuple[str, ...] = in_order("amount credits value total min minimum")
    """Inside a reward that is an object."""
    reward_cents: tuple[str, ...] = in_order(
        "amount_cents cents price_cents cent_amount amount_minor minor_amount "
        "minor_units",
    )
    """The same in cents of a US dollar, each worth a credit (contract, section 1)."""
    reward_hundredths: tuple[str, ...] = in_order(
        "centimes centime centimos céntimos centavos centavo centesimi centiemen",
    )
    """Cents in other languages, which are cents of a dollar only beside its name."""
    reward_unit: tuple[str, ...] = ("unit", "currency", "units", "currency_code")
    reward_scale: tuple[str, ...] = in_order(
        "exponent scale decimals decimal_places fraction_digits decimal_digits places "
        "digits precision",
    )
    """So many of the amount's last digits stand behind the point, as in ISO 4217."""
    credit_units: frozenset[str] = word_set("credit credits cr crd crs cred xcr") | {""}
    """Units that are credits. Of other money only dollars with cents are converted."""
    credit_stems: tuple[str, ...] = ("credit", "crédit", "kredit", "kredyt", "кредит")
    """What units begin with that are credits, too, in other languages."""
    currencies: frozenset[str] = word_set(
        "aed afn amd aoa ars aud awg azn bam bbd bdt bhd bif bmd bnd bob brl bsd "
        "btn bwp byn bzd cad cdf chf clp cny cop crc cup cve czk djf dkk dop dzd egp "
        "ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd hkd hnl htg huf idr ils "
        "inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr "
        "lrd lsl lyd mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn "
        "nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd "
        "scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt tnd try "
        "ttd twd tzs uah ugx uyu uzs ves vnd vuv wst xaf xcd xof xpf yer zar zmw btc "
        "eth sol usdc usdt"
    )
    """Other money, in capital letters, under whatever name it stands: what is in use of
    ISO 4217, but for `ALL` and `TOP`, which are words, and what some chains have."""
    status: tuple[str, ...] = ("status", "task_status", "state", "task_state")
    open_flags: tuple[str, ...] = in_order(
        "is_open open is_available available is_claimable claimable is_active active",
    )
    """False in one of these: the task may not be claimed."""
    closed_flags: tuple[str, ...] = in_order(
        "is_claimed claimed is_taken taken is_assigned assigned is_completed completed "
        "is_closed closed is_expired expired",
    )
    """True in one of these says the same."""
    deadline: tuple[str, ...] = in_order(
        "deadline deadline_at due due_at due_date expires_at expires expiry "
        "expiration valid_until ends_at",
    )
    poster: tuple[str, ...] = in_order(
        "poster poster_id poster_agent_id posted_by posted_by_agent_id creator "
        "creator_id creator_agent_id created_by owner owner_id author requester "
        "requester_id from",
    )
    claimant: tuple[str, ...] = in_order(
        "claimant claimant_id claimant_agent_id claimed_by claimed_by_agent_id "
        "claimer assignee assignee_id assigned_to assigned_agent_id worker "
        "worker_id",
    )
    result: tuple[str, ...] = in_order(
        "result results output outputs submission answer"
    )
    """What was handed in, in the record of a task that we posted."""
    refund: tuple[str, ...] = in_order(
        "refunded_credits credits_refunded refunded_amount refund_amount "
        "refund_credits refunded refund",
    )
    """Credits of such a task that came back; or a flag that all of them did."""
    fee: tuple[str, ...] = in_order(
        "fee fee_credits fees posting_fee platform_fee service_fee network_fee",
    )
    """In the answer to a post: credits that were taken beside its reward."""
    agent_id: tuple[str, ...] = ("agent_id", "id", "agent_uuid", "uuid")
    """Inside a poster or claimant that is an object, and in a registration."""
    record_wrappers: tuple[str, ...] = ("task", "attributes")
    """Objects in a record that hold (part of) the task itself."""
    record_wrappers_without_id: tuple[str, ...] = ("node", "record", "item", "data")
    """The same, opened only where the record has no id outside of them, or nothing
    but an id, and they hold a task."""
    # Where a listing's array may be.
    task_containers: tuple[str, ...] = in_order(
        "tasks marketplace marketplace_tasks available_tasks open_tasks "
        "task_list jobs listings",
    )
    containers: tuple[str, ...] = in_order(
        "data items results result response payload records rows entries list "
        "available open edges nodes hits value content",
    )
    no_containers: tuple[str, ...] = in_order(
        "agents users errors warnings links products plans tags categories",
    )
    """Arrays whose records have ids and names, yet are not tasks."""
    container_depth: int = 5
    """How many objects deep an array is looked for."""

    # Answers to actions.
    answer_wrappers: tuple[str, ...] = ("data", "response", "payload")
    """Objects around an answer; `result` is not one: it may echo our own work."""
    account_wrappers: tuple[str, ...] = ("agent", "account", "wallet")
    token: tuple[str, ...] = ("access_token", "token", "bearer_token")
    starter_credits: tuple[str, ...] = ("credits", "starter_credits", "balance")
    balance: tuple[str, ...] = in_order(
        "balance credits_balance credit_balance new_balance current_balance "
        "balance_after remaining_credits credits_remaining",
    )
    """A bare `credits` is not a balance, except in a registration."""
    earned: tuple[str, ...] = in_order(
        "credits_earned earned_credits earned credits_awarded awarded "
        "credits_paid reward_paid paid payout reward reward_credits",
    )
    lease: tuple[str, ...] = in_order(
        "lease_until lease_expires_at lease_expires lease_expiry lease_ends_at "
        "leased_until claim_expires_at claim_expires claim_expiry claim_until "
        "claimed_until reserved_until locked_until lease expires_at expires expiry "
        "expiration valid_until",
    )
    """In the answer to a claim: when it ends by itself."""
    lease_wrappers: tuple[str, ...] = ("lease", "claim", "assignment", "reservation")
    """Objects in the answer to a claim that describe the claim itself."""
    lease_in_wrapper: tuple[str, ...] = ("until", "ends_at", "end", "deadline")
    """Inside of such an object the same is also called so."""
    ours_in_refusals: tuple[str, ...] = in_order(
        "already_yours already_claimed_by_you already_owned_by_you"
    )
    """A flag or a code in a no that means: the task is ours already."""
    ours_words: tuple[str, ...] = (
        "already claimed by you",
        "already assigned to you",
        "already yours",
        "already owned by you",
        "already own this task",
        "you already claimed",
        "you have already claimed",
        "you already hold",
    )
    """Parts of a message that say the same. Whole phrases: "already claimed, you
    are too late" must not match."""

    # A no inside a 2xx.
    no_flags: tuple[str, ...] = ("ok", "success", "successful", "accepted")
    """False in one of these is a no; true in one outweighs an `error` field."""
    no_states: frozenset[str] = word_set(
        "rejected refused denied declined error failed failure invalid forbidden "
        "unauthorized conflict not_found already_claimed taken unavailable expired "
        "ko nok",
    )
    no_fields: tuple[str, ...] = in_order(
        "error errors user_errors field_errors validation_errors"
    )
    code_fields: tuple[str, ...] = in_order(
        "code error_code error errors user_errors reason type"
    )
    message_fields: tuple[str, ...] = in_order(
        "message error_message error_description msg detail details error "
        "errors user_errors field_errors validation_errors reason say title hint code",
    )
    hints: tuple[Hint, ...] = HINTS
    """In order: the first that matches wins."""


ASSUMED = Vocabulary()
"""The default: what services commonly do."""
