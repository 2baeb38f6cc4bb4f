"""jitgemm.torch.gated_mlp and its gradients, against PyTorch's own layers."""

from __future__ import annotations

from functools import partial

import jitgemm as jg
import pytest

pytest.importorskip("numpy")
torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from activations import ACTIVATIONS
from conftest import small_integers
from torch import library
from torch.nn import functional

# PyTorch warns of its own functions: a profiler of a CPU has no CUDA.
pytestmark = pytest.mark.filterwarnings("ignore")

EMULATOR = "emulator:sm_80"
PLACES = [pytest.param("cpu", id="emulator"), pytest.param("cuda", id="gpu", marks=pytest.mark.gpu)]
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    torch.compiler.reset()


def tensor(*shape, dtype=torch.float32, seed=0, place="cpu"):
    """No sum is 0, where relu has no derivative."""
    return torch.from_numpy(small_integers(shape, seed=seed) / 4 + 1 / 64).to(place, dtype)


def operands(*leading, place="cpu", dtype=torch.float32, k=5, h=6, n=4):
    return (
        tensor(*leading, k, place=place, dtype=dtype),
        tensor(2 * h, k, seed=1, place=place, dtype=dtype),
        tensor(n, h, seed=2, place=place, dtype=dtype),
    )


def leaves(tensors):
    return [x.detach().clone().requires_grad_() for x in tensors]


def ours(x, gate_up, down, activation="silu", **options):
    device = EMULATOR if x.device.type == "cpu" else None
    return jg.torch.gated_mlp(x, gate_up, down, activation, device=device, **options)


def theirs(x, gate_up, down, activation="silu"):
    gate, up = gate_up.chunk(2)
    hidden = ACTIVATIONS[activation](functional.linear(x, gate)) * functional.linear(x, up)
    return functional.linear(hidden, down)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("leading", [(7,), (2, 3), (), (0,)])
def test_results_and_gradients_are_those_of_torch(activation, leading, place):
    given = operands(*leading, place=place)
    torch.testing.assert_close(ours(*given, activation), theirs(*given, activation), **CLOSE)
    for wanted in ((0,), (1,), (2,), (0, 1, 2)):
        mine, reference = ([x.clone().requires_grad_(i in wanted) for i, x in enumerate(given)] for _ in range(2))
        gradient = tensor(*leading, 4, seed=3, place=place)
        ours(*mine, activation).backward(gradient)
        theirs(*reference, activation).backward(gradient)
        for i in wanted:
            torch.testing.assert_close(mine[i].grad, reference[i].grad, **CLOSE)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_errors_are_no_larger_than_those_of_torch(activation, dtype, place):
    def errors(layer):
        mine = leaves(operands(9, place=place, dtype=dtype, k=40, h=24, n=16))
        exact = leaves(x.double() for x in mine)
        d, expected = layer(*mine, activation), theirs(*exact, activation)
        gradient = tensor(9, 16, seed=3, place=place, dtype=dtype)
        d.backward(gradient)
        expected.backward(gradient.double())
        pairs = [(d, expected), *((x.grad, y.grad) for x, y in zip(mine, exact))]
        return [((x.double() - y).norm() / y.norm()).item() for x, y in pairs]

    for error, allowed in zip(errors(ours), errors(theirs)):
        assert error <= 1.25 * allowed + torch.finfo(dtype).eps / 8


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("h", [24, 7])
def test_kernels_apply_the_activation_and_its_derivative(h, place, epilogues):
    bf16 = {"dtype": torch.bfloat16, "place": place}
    d = ours(*leaves(operands(9, k=16, h=h, n=8, **bf16)), "gelu")
    assert epilogues == [None, "d = gelu(acc) * up[m,n]; gate[m,n] = acc", None]
    epilogues.clear()
    d.backward(tensor(9, 8, seed=3, **bf16))
    both_halves = "z = gate[m,n]; d = acc * up[m,n] * dgelu(z); of_up[m,n] = acc * gelu(z)"
    assert sorted(epilogues, key=str) == [None, None, None, both_halves]  # of x and of both weights


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("rows", [70, 0])
def test_the_gradient_of_a_bias_is_that_of_torch(activation, rows, place):
    bf16 = {"dtype": torch.bfloat16, "place": place}
    given = [tensor(rows, 16, **bf16), tensor(24, 16, seed=1, **bf16), tensor(24, seed=2, **bf16)]
    given.append(tensor(8, 24, seed=3, **bf16))
    gradient = tensor(rows, 8, seed=4, **bf16)

    def of_ours(x, weight, bias, down):
        device = EMULATOR if x.device.type == "cpu" else None
        return torch.ops.jitgemm.mlp(x, weight, None, bias, down, None, activation, False, device)

    def of_torch(x, weight, bias, down):
        return functional.linear(ACTIVATIONS[activation](functional.linear(x, weight, bias)), down)

    mine, exact, reference = leaves(given), leaves(x.double() for x in given), leaves(given)
    of_ours(*mine).backward(gradient)
    of_torch(*exact).backward(gradient.double())
    of_torch(*reference).backward(gradient)
    assert mine[2].grad.dtype is torch.bfloat16
    allowed = (reference[2].grad.double() - exact[2].grad).norm() * 1.25 + exact[2].grad.norm() / 1024
    assert (mine[2].grad.double() - exact[2].grad).norm() <= allowed


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_second_derivatives_are_those_of_torch(activation):
    results = []
    for layer in (ours, theirs):
        given = leaves(operands(4))
        first = torch.autograd.grad(layer(*given, activation).square().sum(), given, create_graph=True)
        results.append(torch.autograd.grad(sum(x.square().sum() for x in first), given))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-3)


def test_a_tensor_that_is_given_twice_has_both_gradients():
    results = []
    for layer in (ours, theirs):
        w = tensor(6, 6).requires_grad_()
        x = torch.cat([w, w])
        first = torch.autograd.grad(layer(w, x, w).square().sum(), w, create_graph=True)[0]
        results.append((first, *torch.autograd.grad(first.square().sum(), w)))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-2)


TRANSFORMS = {
    "grad": lambda f, x: torch.func.grad(lambda x: f(x).square().sum())(x),
    "jvp": lambda f, x: torch.func.jvp(f, (x,), (x + 1,)),
    "vmap": lambda f, x: torch.vmap(f)(x.expand(3, *x.shape)),
    "hessian": lambda f, x: torch.func.hessian(lambda x: f(x).square().sum())(x),
    "dual numbers": lambda f, x: tangent_of(f, x),
}


def tangent_of(f, x):
    with torch.autograd.forward_ad.dual_level():
        d = f(torch.autograd.forward_ad.make_dual(x, x + 1))
        return torch.autograd.forward_ad.unpack_dual(d).tangent


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    x, gate_up, down = operands(3)
    results = [TRANSFORMS[name](lambda x, f=f: f(x, gate_up, down), x) for f in (ours, theirs)]
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["grad", "jvp", "vmap"])
def test_transforms_in_a_compiled_program(name):
    x, gate_up, down = operands(3)
    f = partial(TRANSFORMS[name], lambda x: ours(x, gate_up, down))
    expected = TRANSFORMS[name](lambda x: theirs(x, gate_up, down), x)
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), expected, rtol=1e-4, atol=1e-3)


class Graphs:
    """A backend that keeps what the graphs of a program call."""

    def __init__(self):
        self.calls = []

    def __call__(self, module, _):
        from functorch.compile import make_boxed_func

        self.calls += [str(node.target) for node in module.graph.nodes if node.op == "call_function"]
        return make_boxed_func(module.forward)

    def backend(self):
        from torch._dynamo.backends.common import aot_autograd

        return aot_autograd(fw_compiler=self, bw_compiler=self)


def test_a_compiled_program_calls_fused_kernels_forward_and_backward():
    graphs, results = Graphs(), []
    compiled = torch.compile(ours, backend=graphs.backend(), fullgraph=True)
    for layer in (compiled, theirs):
        given = leaves(operands(2, 3))
        d = layer(*given)
        d.square().sum().backward()
        results.append((d, *(x.grad for x in given)))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-3)
    assert {"jitgemm.mlp_hidden_and_argument.default", "jitgemm.mlp_gradient_of_argument.default"} <= set(graphs.calls)
    assert not any("silu" in call for call in graphs.calls)


def test_a_compiled_program_has_dynamic_rows():
    compiled = torch.compile(ours, backend="aot_eager", fullgraph=True, dynamic=True)
    for rows in (5, 7, 2):
        given = operands(rows)
        torch.testing.assert_close(compiled(*given), theirs(*given), **CLOSE)


def test_an_exported_program():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gate_up, self.down = (torch.nn.Parameter(x) for x in operands(3)[1:])

        def forward(self, x):
            return ours(x, self.gate_up, self.down)

    layer, given = Layer(), operands(3)
    exported = torch.export.export(layer, (given[0],)).module()
    torch.testing.assert_close(exported(given[0]), theirs(*given), **CLOSE)


OURS = torch.ops.jitgemm
GATED, PLAIN = ("silu", True, EMULATOR, None), ("gelu", False, EMULATOR)
X, GATE, UP, DOWN = tensor(3, 5), tensor(6, 5, seed=1), tensor(6, 5, seed=2), tensor(4, 6, seed=3)
OPERATORS = {
    "hidden": (OURS.mlp_hidden, (X, GATE, UP, None, *GATED)),
    "hidden of a stack": (OURS.mlp_hidden, (X, GATE, None, None, *GATED)),
    "plain hidden": (OURS.mlp_hidden, (X, GATE, None, tensor(6), *PLAIN)),
    "argument": (OURS.mlp_hidden_and_argument, (X, GATE, UP, None, *GATED)),
    "argument of a stack": (OURS.mlp_hidden_and_argument, (X, GATE, None, None, *GATED)),
    "plain argument": (OURS.mlp_hidden_and_argument, (X, GATE, None, None, *PLAIN)),
    "no argument": (OURS.mlp_hidden_and_argument, (X, GATE, None, None, "relu", False, EMULATOR)),
    "gradient of argument": (OURS.mlp_gradient_of_argument, (tensor(3, 4), DOWN, tensor(3, 12), *GATED)),
    "plain gradient": (OURS.mlp_gradient_of_argument, (tensor(3, 4), DOWN, tensor(3, 6), *PLAIN)),
    "plain gradients": (OURS.mlp_gradients_of_argument_and_bias, (tensor(3, 4), DOWN, tensor(3, 6), *PLAIN)),
    "gradient of x": (OURS.mlp_gradient_of_x, (tensor(3, 12), GATE, UP, *GATED)),
    "gated": (OURS.mlp, (X, GATE, UP, None, DOWN, None, *GATED)),
    "plain": (OURS.mlp, (X, GATE, None, tensor(6), DOWN, tensor(4), *PLAIN)),
    "one layer": (OURS.mlp, (X, GATE, None, tensor(6), None, None, *PLAIN)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_keep_their_promises(name):
    operator, arguments = OPERATORS[name]
    library.opcheck(operator.default, arguments)
    if operator is OURS.mlp:
        given = [x.clone().requires_grad_() if isinstance(x, torch.Tensor) else x for x in arguments]
        library.opcheck(operator.default, given)


def test_a_profile_shows_the_operator():
    given = leaves(operands(3))
    with torch.profiler.profile() as profile:
        ours(*given).sum().backward()
    names = {event.key for event in profile.key_averages()}
    assert {"jitgemm::mlp", "jitgemm::mlp_gradient_of_argument"} <= names


def test_autocast():
    given = operands(3)
    with torch.autocast("cpu", torch.bfloat16):
        d = ours(*given)
    assert d.dtype == torch.bfloat16
    torch.testing.assert_close(d.float(), theirs(*given), rtol=0.05, atol=0.1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_are_batch_invariant(dtype):
    given = operands(9, dtype=dtype, k=16, h=16)
    whole = ours(*given, deterministic="batch_invariant")
    part = ours(given[0][:2], *given[1:], deterministic="batch_invariant")
    torch.testing.assert_close(whole[:2], part, rtol=0, atol=0)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("first", [0, 1, 8])
@pytest.mark.parametrize("h", [8, 12, 16])
def test_weights_and_rows_may_lie_anywhere(h, first, arch):
    """Some of them have no kernel that multiplies by gate and up at once."""
    room = tensor(2 * h * 24 + 8, dtype=torch.bfloat16, seed=1)
    gate_up = room[first : first + 2 * h * 24].view(2 * h, 24)
    down = tensor(8, h, seed=2).bfloat16()
    rows = tensor(5, 27).bfloat16()
    for x in (rows[:, :24], rows[:, 3:], rows[:1, 1:25], tensor(24, 5).bfloat16().T):
        d = jg.torch.gated_mlp(x, gate_up, down, device=f"emulator:{arch}")
        expected = theirs(*(t.double() for t in (x, gate_up, down)))
        torch.testing.assert_close(d.double(), expected, rtol=0.02, atol=0.05)


def test_gradients_have_the_same_bits_each_time():
    def gradients():
        given = leaves(operands(9, dtype=torch.bfloat16))
        ours(*given).square().sum().backward()
        return [x.grad for x in given]

    for first, second in zip(gradients(), gradients()):
        assert torch.equal(first, second)


def test_a_weight_that_changed_is_noticed():
    given = leaves(operands(3))
    d = ours(*given)
    with torch.no_grad():
        given[1].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        d.sum().backward()


def test_wrong_operands_are_refused():
    x, gate_up, down = operands(3)
    with pytest.raises(jg.SpecError, match="activation is 'tanh'"):
        ours(x, gate_up, down, "tanh")
    with pytest.raises(jg.Error):
        ours(x, gate_up, down[:, :5])
    with pytest.raises(jg.OperandError, match=r"gate_up has shape \(11, 5\)"):
        ours(x, gate_up[:11], down)
    with pytest.raises(jg.OperandError, match="down is of type list"):
        ours(x, gate_up, [down])
    with pytest.raises(jg.Error):
        ours(x.double(), gate_up, down)
