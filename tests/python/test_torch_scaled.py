"""jitgemm.torch.scaled_matmul, against products of f64 and of PyTorch."""

from __future__ import annotations

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from torch import library
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

# PyTorch warns of its own functions: a profiler of a CPU has no CUDA.
pytestmark = pytest.mark.filterwarnings("ignore")

EMULATOR = "emulator:sm_90a"
E4M3 = torch.float8_e4m3fn
M, N, K = 24, 48, 160


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    torch.compiler.reset()


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def positive(*shape, seed=0):
    return normal(*shape, seed=seed).abs() + 0.25


def operands(m=M):
    return normal(m, K).to(E4M3), normal(N, K, seed=1).to(E4M3).t()


def ours(a, b, scale_a=1.0, scale_b=1.0, **options):
    options.setdefault("device", EMULATOR if a.device.type == "cpu" else None)
    return jg.torch.scaled_matmul(a, b, scale_a, scale_b, **options)


def each(scale, shape):
    """A factor for each element, from one for a block of it. K has blocks of 128."""
    for dimension, size in enumerate(shape):
        if scale.shape[dimension] not in (1, size):
            scale = scale.repeat_interleave(128, dimension).narrow(dimension, 0, size)
    return scale.double()


def product(a, b, scale_a, scale_b, bias=0):
    return (a.double() * each(scale_a, a.shape)) @ (b.double() * each(scale_b, b.shape)) + bias


def close(d, expected, unit=2**-8):
    return (d.double() - expected).abs().max() <= unit * expected.abs().max()


ELEMENT, ROW, COLUMN = torch.tensor([0.5]), positive(M, 1), positive(1, N, seed=1)
OF_A, OF_B = positive(2, M).t(), positive(2, 1, seed=1)


def pairs():
    """Scales with their factors."""
    yield (0.5, ELEMENT[None]), (ELEMENT, ELEMENT[None])
    yield (ROW, ROW), (COLUMN, COLUMN)
    yield ((ROW.view(-1), "row"), ROW), ((COLUMN.view(-1), "column"), COLUMN)
    yield ((OF_A, "1x128"), OF_A), ((OF_B, "128x128"), OF_B)


def test_results_in_every_way():
    a, b = operands()
    bias = normal(N, seed=3)
    for (scale_a, factor_a), (scale_b, factor_b) in pairs():
        d = ours(a, b, scale_a, scale_b, bias=bias)
        assert d.dtype is torch.bfloat16
        assert close(d, product(a, b, factor_a, factor_b, bias))
        with FlopCounterMode(display=False) as counter:  # a mode sees the operator
            assert torch.equal(ours(a, b, scale_a, scale_b, bias=bias), d)
        assert counter.get_total_flops() == 2 * M * N * K
    compiled = torch.compile(ours, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(a, b, scale_a, scale_b, bias=bias), d)


def test_opcheck():
    a, b = operands()
    whole = torch.ones(M, K, dtype=torch.int8), torch.ones(K, N, dtype=torch.int8)
    blocks = (a, b, OF_A, OF_B, "1x128", "128x128")
    numbers = (None, None, None, None, 0.5, 2.0, normal(N), None, torch.float32)
    # PyTorch's check of a schema compares operands, and has no comparison of 8-bit floats on the CPU.
    of_floats = ["test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
    for arguments, tests in ((blocks, of_floats), ((*whole, *numbers), "test_schema")):
        operator = torch.ops.jitgemm.scaled_matmul.default
        library.opcheck(operator, arguments, {"device": EMULATOR}, test_utils=tests)


def test_an_exported_program_has_any_number_of_rows():
    class Product(torch.nn.Module):
        def forward(self, a, b, scale_a, scale_b):
            return ours(a, b, scale_a, (scale_b, "128x128"))

    rows = {0: torch.export.Dim("rows", min=2, max=1000)}
    arguments = (*operands(), ROW, OF_B)
    program = torch.export.export(Product(), arguments, dynamic_shapes=(rows, None, rows, None))
    a, b = operands(8)
    assert close(program.module()(a, b, ROW[:8], OF_B), product(a, b, ROW[:8], OF_B))


def test_batches_and_meta_tensors():
    a, b = normal(2, 8, K).to(E4M3), normal(2, N, K, seed=1).to(E4M3).mT
    scale = positive(2, 8, 1)
    d = ours(a, b, scale, 2.0, out_dtype=torch.float32)
    assert d.dtype is torch.float32 and close(d, a.double() * scale @ b.double() * 2)
    for out_dtype in (None, torch.float16):
        d = ours(a.to("meta"), b.to("meta"), scale.to("meta"), out_dtype=out_dtype)
        assert d.shape == (2, 8, N) and d.dtype is (out_dtype or torch.bfloat16)


def test_refusals():
    a, b = operands()
    with pytest.raises(jg.OperandError, match="no derivatives"):
        ours(a, b, ROW.clone().requires_grad_())
    with torch.no_grad():
        ours(a, b, ROW.clone().requires_grad_())
    with pytest.raises(jg.OperandError, match="scale_a is '1x64'"):
        ours(a, b, (OF_A, "1x64"))
    with pytest.raises(jg.OperandError, match=r"scale_a has shape \(24,\)"):
        ours(a, b, ROW.view(-1))
    with pytest.raises(jg.ConfigError, match="sums=promoted"):
        ours(a, b, (OF_A, "1x128"), sums="fast")
    with pytest.raises(jg.SpecError, match="always"):
        ours(a, b, deterministic="always")
    for mode in (False, True):
        with pytest.raises((jg.Error, RuntimeError), match="160"):
            ours(a.to("meta") if mode else a, (b.to("meta") if mode else b)[:128])


def test_scales_are_those_of_pytorch():
    """PyTorch serves one scale for a tensor on the CPU."""
    a, b = operands()
    scale_a, scale_b, bias = torch.tensor(0.25), torch.tensor(3.0), normal(N, seed=3).bfloat16()
    expected = torch._scaled_mm(a, b, scale_a, scale_b, bias=bias, out_dtype=torch.float32)
    assert close(ours(a, b, scale_a, scale_b, bias=bias, out_dtype=torch.float32), expected.double(), 2**-10)


@pytest.mark.gpu
def test_every_scale_is_that_of_pytorch_on_a_gpu():
    scaled_mm, kinds = getattr(functional, "scaled_mm", None), getattr(functional, "ScalingType", None)
    if scaled_mm is None:
        pytest.skip("this PyTorch has no scaled_mm")
    a, b = normal(128, 512).to("cuda", E4M3), normal(256, 512, seed=1).to("cuda", E4M3).t()
    row, column = positive(128, 1).cuda(), positive(1, 256, seed=1).cuda()
    of_a, of_b = positive(4, 128).cuda().t(), positive(2, 4, seed=1).cuda().t()
    for (scale_a, word_a, kind_a), (scale_b, word_b, kind_b) in (
        ((row, None, kinds.RowWise), (column, None, kinds.RowWise)),
        ((of_a, "1x128", kinds.BlockWise1x128), (of_b, "128x128", kinds.BlockWise128x128)),
    ):
        expected = scaled_mm(a, b, scale_a, kind_a, scale_b, kind_b)
        given = [s if word is None else (s, word) for s, word in ((scale_a, word_a), (scale_b, word_b))]
        assert close(ours(a, b, *given), expected.double())
