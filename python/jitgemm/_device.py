"""The device of calls that name none."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Union

from . import _core

_Block = tuple[str, Union["_Block", None]]  # of `with`: its device, and the block around it
_block: ContextVar[_Block | None] = ContextVar("jitgemm.device", default=None)


def set_device(device: str | None) -> None:
    """Names the device of all calls that name none, in every thread of this process.

    device: "cuda", "cuda:1", "emulator", "emulator:sm_90a", or None: what the variable JITGEMM_DEVICE says, which is
      read again.

    A call's own `device` wins, and so does a block of `with jitgemm.device(...)`. Arrays on a GPU are multiplied there;
    where the default is the emulator they are refused. Raises SpecError for what is no device.
    """
    _core.set_default_device(device)


def get_device() -> str | None:
    """The device of calls that name none, here and now: None where nobody has named one."""
    return _core.default_device()


class device:
    """`with jitgemm.device("emulator"):` names the device of the calls in the block that name none.

    It holds for this thread, or this task of asyncio, and for tasks that begin in the block. Other threads don't see
    it. Blocks nest. Raises SpecError for what is no device.
    """

    def __init__(self, device: str) -> None:
        self.name = _core.device_name(device)

    def __enter__(self) -> device:
        _core.follow_blocks(_block.get)
        _block.set((self.name, _block.get()))
        return self

    def __exit__(self, *_: object) -> None:
        block = _block.get()
        _block.set(None if block is None else block[1])

    def __repr__(self) -> str:
        return f"jitgemm.device({self.name!r})"
