"""Wake-ups are not lost."""

from journeyman.lifecycle.wakeup import Wakeup


async def test_a_wake_up_while_nobody_waits_is_not_lost() -> None:
    wakeup = Wakeup()
    wakeup.notify()

    assert await wakeup.wait(60)
    assert not await wakeup.wait(0)
