"""The log events of the economy."""

from journeyman.observability.events import declare

ADJUSTED = declare(
    "ledger.adjusted",
    "warning",
    "amount balance",
    "The network showed a different balance from the ledger's; the difference was "
    "booked.",
    "Compare `journeyman ledger` with what the network shows; somebody else may be "
    "using this agent's token.",
)
EXPLAINED = declare(
    "ledger.explained",
    "info",
    "entry amount",
    "A difference that was booked before, as `entry`, is explained by what was booked "
    "since: it was taken back.",
)
LATE_PAY = declare(
    "ledger.late_pay",
    "info",
    "task_id strategy credits balance",
    "A balance shows pay that was not booked yet: of a task that had been given up, "
    "because no answer said that it was paid, or what an answer named beyond the "
    "listing.",
)
WRITTEN_OFF = declare(
    "ledger.written_off",
    "info",
    "task_id strategy credits",
    "Nobody said in `work.write_off_days` whether a delivered result is paid: it is "
    "not counted as owed any more.",
)
JOURNAL_IS_OLDER = declare(
    "journal.is_older",
    "warning",
    "marked_at entries spends posts_today balance",
    "The journal was once further than it is, as the mark beside the identity says: a "
    "backup was restored. `entries` of the ledger and `spends` were there at "
    "`marked_at`. The limits of today and of this month count what was spent since, "
    "and it is booked.",
    "Compare `journeyman ledger` with what the network shows. Tasks since the backup "
    "are not known; those that were open in it are taken up again. When you are done: "
    "`journeyman journal acknowledge`.",
)
OLDER_ACKNOWLEDGED = declare(
    "journal.acknowledged",
    "info",
    "found_at",
    "The owner knows that the journal is older than the one before it, as was found "
    "then: `status` and `doctor` tell it no more.",
)
DOUBTED = declare(
    "ledger.doubted",
    "warning",
    "task_id strategy message",
    "The network named an amount that cannot be true, such as a negative reward. It is "
    "kept in the ledger as doubtful, and nothing was booked for it.",
    "Compare `journeyman ledger` with what the network shows.",
)
LIMITS_IN_FORCE = declare(
    "budget.in_force",
    "info",
    "limits time_zone worst_case_credits worst_case_cents",
    "What may be spent, by setting, as the daemon starts. `worst_case_credits` is the "
    "most that may leave for posts before the day ends in `time_zone`, of the credits "
    "held now; `worst_case_cents` is the most that payment pages may ask for.",
)
CREDITS_SHORT = declare(
    "credits.short",
    "warning",
    "state before balance effect",
    "Credits have run short: `low`, `critical`, or `needs_owner`. `effect` is what is "
    "not done because of it; tasks are claimed and done as before.",
    "See `journeyman budget`. For `needs_owner`: pay or cancel what `journeyman topup "
    "list` shows, and look for posts of unknown outcome (`journeyman posts`).",
)
CREDITS_RECOVER = declare(
    "credits.recover",
    "info",
    "state before balance effect",
    "Credits are less short than before.",
)
POST_REFUSED_BY_BUDGET = declare(
    "post.over_budget",
    "info",
    "reward setting message",
    "A post was not sent, because it would break a limit of the owner's.",
)
PLANNED_POST = declare(
    "post.planned",
    "info",
    "plan slot spend_id accepted",
    "A slot of the posting plan was tried. Where it was not accepted, `post.refused` "
    "or `post.unknown` says why; one that was certainly not made is tried again, three "
    "times in all.",
)
GROWTH_DECIDED = declare(
    "growth.decided",
    "info",
    "plan slot may_post rule message",
    "A plan that posts for growth was due, and `message` says whether that is worth "
    "its cost. Told once for each slot, and again when the rule is another.",
)
POSTED = declare(
    "post.accepted",
    "info",
    "spend_id task_id reward balance",
    "The network accepted our task; its reward has left our balance.",
)
FIRST_POST_SEEN = declare(
    "post.first_seen",
    "info",
    "spend_id how",
    "The first post on this network was seen, in a `listing` or by the `balance`: "
    "more may be posted.",
)
FIRST_POST_UNSEEN = declare(
    "post.first_unseen",
    "warning",
    "spend_id",
    "The network accepted our first post, or may have, and no listing shows it. Until "
    "it is seen, no other post is sent.",
    "Look for it with `journeyman market`. If all is well and the network just does "
    "not show it, set posting.verify_first to false.",
)
POST_CHANGED = declare(
    "post.changed",
    "info",
    "state status spend_id task_id",
    "A listing shows that our post is in another `state`: listed, in work, done, "
    "over, not listed; or its reward came back: refunded. `status` is the network's "
    "own word.",
)
POST_FAILED = declare(
    "post.refused",
    "warning",
    "spend_id reward message",
    "The network did not accept our task; nothing was spent.",
    "Read the message; correct the task, then post it again.",
)
POST_UNKNOWN = declare(
    "post.unknown",
    "warning",
    "spend_id reward message",
    "It is not known whether the network accepted our task. It counts as spent and is "
    "not sent again.",
    "Look for the task with `journeyman market`.",
)
CHECKOUT_OPENED = declare(
    "topup.opened",
    "info",
    "spend_id credits cents url",
    "A payment page exists at `url`; the owner decides whether to pay there.",
)
TOP_UP_PROPOSED = declare(
    "topup.proposed",
    "warning",
    "spend_id available below_credits credits cents price_id",
    "Credits run short, and topup.mode is `ask`: the owner approves, and only then is "
    "the payment page asked for.",
    "Run `journeyman topup approve ID`, or `journeyman topup cancel ID`.",
)
TOP_UP_EXPIRED = declare(
    "topup.expired",
    "warning",
    "spend_id credits cents",
    "A proposal was not approved, or a page was not seen to be paid, within "
    "topup.expires_after_hours. What was not approved is forgotten; a page still "
    "counts against the caps, since somebody may have paid there.",
    "If it was paid, run `journeyman topup confirm ID`; if it surely was not, "
    "`journeyman topup cancel ID` gives its cents back.",
)
NO_PACK = declare(
    "topup.no_pack",
    "warning",
    "available target_credits packs",
    "Credits run short, and no pack of the catalogue lifts them over "
    "topup.target_credits.",
    "See `journeyman topup packs`; name a larger pack in [topup.packs], or lower "
    "topup.target_credits.",
)
PRICE_CHANGED = declare(
    "topup.price_changed",
    "warning",
    "pack message",
    "A pack is not offered any more as it was when it was read. Nothing was asked for.",
    "Look at the new prices with `journeyman topup packs --read`, which keeps them.",
)
PRICE_UNREAD = declare(
    "topup.price_unread",
    "warning",
    "pack message",
    "Before a pack is asked for, its price is read again; it could not be. Nothing was "
    "asked for.",
    "It is tried again by itself. `journeyman discover` shows the documents.",
)
TOP_UP_OVER_CAP = declare(
    "topup.over_cap",
    "warning",
    "setting message",
    "Credits run short, but asking for more would break a cap of the owner's.",
    "Wait for the next day or month, or raise the setting named.",
)
CHECKOUT_FAILED = declare(
    "topup.refused",
    "warning",
    "spend_id credits message",
    "The network opened no payment page, or its answer was lost.",
    "Read the message; check the settings of [topup]. One whose answer was lost counts "
    "against the caps until `journeyman topup cancel ID`.",
)
TOP_UP_BOOKED = declare(
    "topup.booked",
    "info",
    "spend_id credits balance confidence",
    "Bought credits were seen or confirmed, and booked.",
)
