"""torch.nn.Linear by jitgemm's kernels."""

from __future__ import annotations

import torch
from torch import Tensor

from ._torch_prepared import linear_by_prepared
from ._torch_products import linear


class Linear(torch.nn.Linear):
    """torch.nn.Linear by jitgemm's kernels."""

    __constants__ = [*torch.nn.Linear.__constants__, "jitgemm_device", "jitgemm_deterministic", "jitgemm_math"]
    jitgemm_device = None
    jitgemm_deterministic = None
    jitgemm_math = None
    jitgemm_prepared = None

    def forward(self, input: Tensor) -> Tensor:
        device, deterministic, math = self.jitgemm_device, self.jitgemm_deterministic, self.jitgemm_math
        if torch.jit.is_scripting():  # type: ignore[attr-defined]
            return torch.ops.jitgemm.linear(input, self.weight, self.bias, device, deterministic, math)
        d = linear_by_prepared(self, input) if self.jitgemm_prepared else None
        if d is not None:
            return d
        return linear(input, self.weight, self.bias, device=device, deterministic=deterministic, math=math)


Linear.__module__ = "jitgemm.torch"  # copies that are saved name it
