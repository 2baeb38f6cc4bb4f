"""jitgemm.torch.linear with an activation, against PyTorch's own layers."""

from __future__ import annotations

from functools import partial

import jitgemm as jg
import pytest

pytest.importorskip("numpy")
torch = pytest.importorskip("torch", minversion="2.6")

from activations import ACTIVATIONS
from conftest import small_integers
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

EMULATOR = "emulator:sm_80"
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def tensor(*shape, dtype=torch.float32, seed=0):
    """No sum is 0, where relu has no derivative."""
    return torch.from_numpy(small_integers(shape, seed=seed) / 4 + 1 / 64).to(dtype)


def leaf(x):
    return x.detach().clone().requires_grad_()


def ours(activation, x, weight, bias=None, **options):
    return jg.torch.linear(x, weight, bias, activation=activation, device=EMULATOR, **options)


def theirs(activation, x, weight, bias=None):
    return ACTIVATIONS[activation](functional.linear(x, weight, bias))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 5), (5,), (0, 5)])
def test_forward_is_one_kernel(activation, shape, epilogues):
    x, weight, bias = tensor(*shape), tensor(6, 5, seed=1), tensor(6, seed=2)
    torch.testing.assert_close(ours(activation, x, weight), theirs(activation, x, weight), **CLOSE)
    torch.testing.assert_close(ours(activation, x, weight, bias), theirs(activation, x, weight, bias), **CLOSE)
    assert epilogues == [f"d = {activation}(acc)", f"d = {activation}(acc + bias[n])"]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 5)])
def test_gradients_are_those_of_torch(activation, shape):
    given = tensor(*shape), tensor(6, 5, seed=1), tensor(6, seed=2)
    gradient = tensor(*shape[:-1], 6, seed=3)
    for wanted in ((0,), (1,), (2,), (0, 1, 2)):
        mine, reference = ([leaf(x) if i in wanted else x for i, x in enumerate(given)] for _ in range(2))
        ours(activation, *mine).backward(gradient)
        theirs(activation, *reference).backward(gradient)
        for i in wanted:
            torch.testing.assert_close(mine[i].grad, reference[i].grad, **CLOSE)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_by_differences(activation):
    x, weight, bias = (leaf(x) for x in (tensor(4, 3), tensor(5, 3, seed=1), tensor(5, seed=2)))
    direction = [tensor(*p.shape, seed=4) for p in (x, weight, bias)]
    loss = ours(activation, x, weight, bias).sum()
    slopes = torch.autograd.grad(loss, (x, weight, bias))
    step = 2.0**-9

    def at(t):
        return theirs(activation, *(p.double() + t * d.double() for p, d in zip((x, weight, bias), direction))).sum()

    difference = (at(step) - at(-step)) / (2 * step)
    slope = sum((s * d).sum() for s, d in zip(slopes, direction))
    torch.testing.assert_close(slope.double(), difference, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_cost_no_further_product(activation, epilogues):
    given = [leaf(x) for x in (tensor(7, 5), tensor(6, 5, seed=1), tensor(6, seed=2))]
    d = ours(activation, *given)
    assert epilogues == [
        "d = relu(acc + bias[n])"
        if activation == "relu"
        else f"z = acc + bias[n]; d = {activation}(z); argument[m,n] = z"
    ]
    d.sum().backward()
    assert len(epilogues) == 3  # of x and of the weight


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_compiled_program_has_the_same_gradients(activation):
    given, results = (tensor(7, 5), tensor(6, 5, seed=1), tensor(6, seed=2)), []
    compiled = torch.compile(partial(ours, activation), backend="aot_eager", fullgraph=True)
    for layer in (compiled, partial(theirs, activation)):
        mine = [leaf(x) for x in given]
        layer(*mine).square().sum().backward()
        results.append([x.grad for x in mine])
    torch.testing.assert_close(*results, **CLOSE)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_second_derivatives_are_those_of_torch(activation):
    given = tensor(4, 3), tensor(5, 3, seed=1), tensor(5, seed=2)
    results = []
    for layer in (ours, theirs):
        parameters = [leaf(x) for x in given]
        first = torch.autograd.grad(layer(activation, *parameters).square().sum(), parameters, create_graph=True)
        results.append(torch.autograd.grad(sum(x.square().sum() for x in first), parameters))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_tangents_are_those_of_torch(activation):
    x, weight, bias = tensor(4, 3), tensor(5, 3, seed=1), tensor(5, seed=2)
    results = []
    for layer in (ours, theirs):
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, tensor(4, 3, seed=3))
            d = layer(activation, dual, weight.requires_grad_(), bias)
            results.append(torch.autograd.forward_ad.unpack_dual(d).tangent)
    torch.testing.assert_close(*results, **CLOSE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_result_is_rounded_once(dtype):
    x, weight, bias = (tensor(*shape, dtype=dtype, seed=i) for i, shape in enumerate([(7, 16), (6, 16), (6,)]))
    d = ours("silu", x, weight, bias)
    expected = theirs("silu", *(t.double() for t in (x, weight, bias)))
    assert d.dtype == dtype
    torch.testing.assert_close(d.double(), expected, rtol=torch.finfo(dtype).eps / 2 + 1e-6, atol=1e-6)
    parameters, reference = ([leaf(t) for t in (x, weight, bias)] for _ in range(2))
    with_gradients = ours("silu", *parameters)
    assert torch.equal(with_gradients, d)
    with_gradients.sum().backward()
    theirs("silu", *reference).sum().backward()
    for mine, other in zip(parameters, reference):
        torch.testing.assert_close(mine.grad, other.grad, rtol=0.05, atol=0.05)


def test_a_bias_that_no_kernel_reads_is_added_before_the_activation(epilogues):
    x, weight = tensor(6, 5), tensor(4, 5, seed=1)
    for bias in (tensor(8, seed=2)[::2], tensor(1, seed=2)):
        torch.testing.assert_close(ours("silu", x, weight, bias), theirs("silu", x, weight, bias), **CLOSE)
    torch.testing.assert_close(ours("relu", x, weight[0]), theirs("relu", x, weight[0]), **CLOSE)
    assert epilogues[:2] == [None, None]


def test_operators_are_seen_where_somebody_observes(epilogues):
    class Names(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            self.seen.append(str(function))
            return function(*arguments, **(options or {}))

    given = tensor(6, 5), tensor(4, 5, seed=1), tensor(4, seed=2)
    with Names() as names:
        d = ours("silu", *given)
    assert "jitgemm.matmul.default" in names.seen and "aten.silu.default" in names.seen
    torch.testing.assert_close(d, theirs("silu", *given), **CLOSE)
    assert epilogues == [None]
    batch = torch.vmap(lambda x: ours("silu", x, *given[1:]))(tensor(3, 6, 5, seed=4))
    torch.testing.assert_close(batch, theirs("silu", tensor(3, 6, 5, seed=4), *given[1:]), **CLOSE)


def test_compiled():
    given = tensor(6, 5), tensor(4, 5, seed=1), tensor(4, seed=2)
    compiled = torch.compile(partial(ours, "gelu"), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(*given), theirs("gelu", *given), **CLOSE)


def test_under_autocast_operands_are_of_its_type(epilogues):
    x, weight, bias = tensor(6, 5), tensor(4, 5, seed=1), tensor(4, seed=2)
    with torch.autocast("cpu", torch.bfloat16):
        d = ours("silu", x, weight, bias)
    assert d.dtype == torch.bfloat16
    assert epilogues == ["d = silu(acc + bias[n])"]


def test_rows_are_batch_invariant():
    x, weight, bias = tensor(9, 5), tensor(4, 5, seed=1), tensor(4, seed=2)
    whole = ours("silu", x, weight, bias, deterministic="batch_invariant")
    part = ours("silu", x[:2], weight, bias, deterministic="batch_invariant")
    torch.testing.assert_close(whole[:2], part, rtol=0, atol=0)


@pytest.mark.parametrize("wrong", ["tanh", "", 3])
def test_an_unknown_activation_is_refused_with_those_that_there_are(wrong):
    with pytest.raises(jg.SpecError, match="activation is .*: expected None or one of relu, gelu, gelu_erf, silu"):
        ours(wrong, tensor(6, 5), tensor(4, 5))


def test_what_is_no_tensor_is_refused_as_without_an_activation():
    with pytest.raises(jg.OperandError, match="x is of type list"):
        ours("silu", [[1.0]], tensor(4, 5))
    with pytest.raises(jg.OperandError, match=r"bias has shape \(3,\)"):
        ours("silu", tensor(6, 5), tensor(4, 5), tensor(3))
