"""A bell: rings are not lost."""

from journeyman.loop import Bell


async def test_a_ring_while_nobody_waits_is_heard_later() -> None:
    bell = Bell()
    bell.ring()

    assert await bell.wait(60)
    assert not await bell.wait(0)
