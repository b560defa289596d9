"""A bell: rings are not lost."""

from journeyman.lifecycle.wakeup import Wakeup


async def test_a_ring_while_nobody_waits_is_heard_later() -> None:
    wakeup = Wakeup()
    wakeup.notify()

    assert await wakeup.wait(60)
    assert not await wakeup.wait(0)
