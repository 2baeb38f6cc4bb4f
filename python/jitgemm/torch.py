"""PyTorch: products with gradients, under torch.compile, and in place of a model's Linear layers.

In eager mode a tensor goes straight to its kernel. PyTorch's dispatcher sees the operators torch.ops.jitgemm.matmul and
torch.ops.jitgemm.linear instead where somebody observes it: a tracer, a compiler, a mode, a transform, a profiler, or a
tensor of another kind.
"""

from __future__ import annotations

from ._torch_experts import replace_experts, restore_experts
from ._torch_float8 import Float8Linear
from ._torch_groups import grouped_matmul
from ._torch_layer import Linear
from ._torch_models import GatedMLP, Replaced, replace_linear, restore_linear
from ._torch_products import baddbmm, bmm, gated_mlp, linear, matmul
from ._torch_scaled import scaled_matmul
from ._torch_symmetric import syrk
from ._torch_warm import warm

__all__ = [
    "Float8Linear",
    "GatedMLP",
    "Linear",
    "Replaced",
    "baddbmm",
    "bmm",
    "gated_mlp",
    "grouped_matmul",
    "linear",
    "matmul",
    "register_inductor",
    "replace_experts",
    "replace_linear",
    "restore_experts",
    "restore_linear",
    "scaled_matmul",
    "syrk",
    "unregister_inductor",
    "warm",
]


def register_inductor() -> None:
    """Offers jitgemm's kernels to torch.compile for every torch.mm, torch.addmm and linear layer on a GPU.

    Call it once, before the first model is compiled; models stay as they are. Inductor then times jitgemm beside its
    other kernels while it compiles, and takes it where it is faster: by 3 % at least, or by anything with
    mode="max-autotune". Layers with an activation behind them, and gated MLPs, are offered as fused kernels, forward
    and backward. Replaced layers need no such call. Programs that are compiled ahead of time to C++ don't call jitgemm.
    unregister_inductor() is the way back.
    """
    from . import _torch_inductor

    _torch_inductor.register()


def unregister_inductor() -> None:
    """Graphs that are compiled from now on don't call jitgemm, replaced layers included. Compiled ones stay."""
    from . import _torch_inductor

    _torch_inductor.unregister()
