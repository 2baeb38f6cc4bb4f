"""Layers that prepare their weights once, against products of f64."""

from __future__ import annotations

import copy

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from jitgemm import _torch_prepared

# PyTorch warns of its own functions: a profiler of a CPU has no CUDA.
pytestmark = pytest.mark.filterwarnings("ignore")

EMULATOR = "emulator:sm_90a"


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def replaced(bias=True, math="f16x3"):
    torch.manual_seed(0)
    layer = torch.nn.Linear(100, 24, bias)
    jg.torch.replace_linear(layer, math=math, prepared=True, device=EMULATOR)
    return layer


def is_right(layer, x, d):
    bias = 0 if layer.bias is None else layer.bias.double()
    expected = x.double() @ layer.weight.double().t() + bias
    return ((d.double() - expected).norm() / expected.norm()).item() < (1e-6 if layer.jitgemm_math == "f16x3" else 1e-4)


@pytest.fixture
def prepared(monkeypatch):
    """The kernels that were asked for."""
    asked = []
    real = _torch_prepared._kernel

    def kernel(*arguments):
        asked.append(real(*arguments))
        return asked[-1]

    monkeypatch.setattr(_torch_prepared, "_kernel", kernel)
    return asked


@pytest.mark.gpu
def test_a_prepared_weight_on_a_gpu(prepared):
    layer = torch.nn.Linear(256, 512).cuda()
    jg.torch.replace_linear(layer, math="f16x3", prepared=True)
    with torch.no_grad():
        for rows in (1, 300):
            x = normal(rows, 256).cuda()
            graph = torch.cuda.CUDAGraph()
            assert is_right(layer, x, layer(x))
            with torch.cuda.graph(graph):
                d = layer(x)
            graph.replay()
            assert is_right(layer, x, d)
    assert len(prepared) == 2 and _torch_prepared._weights[layer].prepared.nbytes >= 4 * 256 * 512


@pytest.mark.parametrize(("bias", "math"), [(True, "f16x3"), (False, "bf16x6")])
def test_a_weight_is_prepared_once_for_all_rows(prepared, bias, math):
    layer = replaced(bias, math)
    with torch.no_grad():
        for rows in (1, 40, 3, 40):
            x = normal(rows, 100, seed=rows)
            assert is_right(layer, x, layer(x))
        weight = _torch_prepared._weights[layer].prepared
        assert f"parts of {math}" in weight.form and len(prepared) == 3
        x = normal(2, 20, 110)[..., :100]
        assert is_right(layer, x, layer(x))
        assert _torch_prepared._weights[layer].prepared is weight
        assert all("prepared=b" in kernel.spec for kernel in prepared)


def test_a_weight_that_changes_is_prepared_again(prepared):
    layer = replaced()
    x = normal(40, 100)
    with torch.no_grad():
        for _ in range(2):
            assert is_right(layer, x, layer(x))
            layer.weight.mul_(2)
        layer.weight = torch.nn.Parameter(normal(24, 100, seed=4))
        assert is_right(layer, x, layer(x))
        other = copy.deepcopy(layer)
        assert is_right(other, x, other(x))
    assert len(prepared) == 4


def test_other_calls_multiply_as_without(prepared):
    layer = replaced()
    x = normal(8, 100)
    d = layer(x)
    d.sum().backward()
    assert is_right(layer, x, d.detach()) and layer.weight.grad is not None
    with torch.no_grad():
        assert torch.equal(torch.fx.symbolic_trace(layer)(x), d)
        assert torch.equal(torch.compile(layer, backend="aot_eager", fullgraph=True)(x), d)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert layer(x).dtype is torch.bfloat16
        assert layer(x[:0]).shape == (0, 24)
        with pytest.raises(jg.Error, match="100"):
            layer(x[:, :50])
        layer.jitgemm_device = None
        with pytest.raises(jg.OperandError, match="device"):
            layer(x)
    assert not prepared
    assert jg.torch.restore_linear(layer) == [""] and "jitgemm_prepared" not in layer.__dict__


def test_prepared_needs_products_in_parts():
    layer = torch.nn.Linear(8, 8)
    for math in (None, "ieee", "tf32"):
        with pytest.raises(jg.SpecError, match="prepared is True, but math is"):
            jg.torch.replace_linear(layer, math=math, prepared=True)
    assert type(layer) is torch.nn.Linear
