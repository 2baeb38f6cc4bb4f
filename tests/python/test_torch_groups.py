"""jitgemm.torch.grouped_matmul and its derivatives, against a product of PyTorch's per group."""

from __future__ import annotations

import itertools
import re
from functools import partial

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from jitgemm import _torch_groups
from torch import func, library
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

# PyTorch warns of its own functions: a profiler of a CPU has no CUDA.
pytestmark = pytest.mark.filterwarnings("ignore")

EMULATOR = "emulator:sm_90a"
PLACES = [pytest.param("cpu", id="emulator"), pytest.param("cuda", id="gpu", marks=pytest.mark.gpu)]
K, N = 32, 48
SIZES = (5, 0, 20, 7)
ROWS = sum(SIZES)


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    torch.compiler.reset()


def numbers(*shape, seed=0, place="cpu", dtype=torch.bfloat16):
    """Their products' sums are exact in every order, and small sums have no more bits than the type."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-1, 2, shape, generator=generator).to(place, dtype)


def ends(*sizes, place="cpu"):
    return torch.tensor([*itertools.accumulate(sizes)], dtype=torch.int32, device=place)


def operands(place="cpu", rows=ROWS, sizes=SIZES, **more):
    """b is the transpose of weights."""
    a, weights = numbers(rows, K, place=place, **more), numbers(len(sizes), N, K, seed=1, place=place, **more)
    return a, weights.mT, ends(*sizes, place=place)


def leaves(*tensors):
    return [x.detach().clone().requires_grad_() for x in tensors]


def ours(a, b, offs, **options):
    return jg.torch.grouped_matmul(a, b, offs, device=EMULATOR if a.device.type == "cpu" else None, **options)


def theirs(a, b, sizes=SIZES):
    """Of the rows in groups."""
    return torch.cat([rows @ matrix for rows, matrix in zip(a[: sum(sizes)].split(list(sizes)), b)])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("lies", ["by column", "by row"])
def test_results_and_gradients(place, lies):
    a, b, offs = operands(place)
    if lies == "by row":
        b = b.contiguous()
    weights = numbers(ROWS, N, seed=2, place=place)
    given, expected = leaves(a, b), leaves(a, b)
    d, reference = ours(*given, offs), theirs(*expected)
    assert torch.equal(d, reference)
    assert torch.equal(ours(a, b, offs), reference)
    (d * weights).sum().backward()
    (reference * weights).sum().backward()
    for x, y in zip(given, expected):
        assert torch.equal(x.grad, y.grad) and x.grad.dtype == y.dtype
    assert not given[1].grad[1].any()  # of the empty group


@pytest.mark.parametrize("place", PLACES)
def test_rows_behind_the_last_group_have_no_gradient(place):
    a, b, offs = operands(place, rows=ROWS + 9)
    a[ROWS:] = torch.nan
    given, expected = leaves(a, b), leaves(a[:ROWS], b)
    gradient = numbers(ROWS + 9, N, seed=2, place=place)
    gradient[ROWS:] = torch.nan
    ours(*given, offs).backward(gradient)
    theirs(*expected).backward(gradient[:ROWS])
    assert torch.equal(given[0].grad[:ROWS], expected[0].grad)
    assert torch.equal(given[0].grad[ROWS:], torch.zeros_like(a[ROWS:]))
    assert torch.equal(given[1].grad, expected[1].grad)


@pytest.mark.parametrize("needs_a, needs_b", [(True, False), (False, True)])
def test_one_gradient_alone(needs_a, needs_b):
    a, b, offs = operands()
    a.requires_grad_(needs_a)
    b = b.clone().requires_grad_(needs_b)
    ours(a, b, offs).sum().backward()  # the gradient of a sum is one element that is repeated
    given, expected = leaves(a, b), [x.grad for x in (a, b)]
    theirs(*given).sum().backward()
    for x, y in zip(given, expected):
        assert y is None or torch.equal(x.grad, y)
    assert (a.grad is not None, b.grad is not None) == (needs_a, needs_b)


def test_a_gradient_where_pytorch_has_no_grouped_product(monkeypatch):
    a, b, offs = operands(rows=ROWS + 9)
    gradient = numbers(ROWS + 9, N, seed=2)
    (of_b,) = torch.autograd.grad(ours(a, b.requires_grad_(), offs), b, gradient)
    monkeypatch.setattr(_torch_groups, "_outer_by_kernel", lambda *_: None)
    monkeypatch.delattr(torch.nn.functional, "grouped_mm", raising=False)
    (alone,) = torch.autograd.grad(ours(a, b, offs), b, gradient)
    assert torch.equal(alone, of_b) and of_b.any()


def test_a_kernel_makes_the_gradient_of_matrices(monkeypatch):
    a, b, offs = operands()
    monkeypatch.delattr(_torch_groups, "_outer_by_pytorch")
    (of_b,) = torch.autograd.grad(ours(a, b.requires_grad_(), offs).sum(), b)
    assert of_b.any()


@pytest.mark.parametrize("place", PLACES)
def test_groups_of_k(place):
    a, b = numbers(ROWS + 9, K, place=place), numbers(ROWS + 9, N, seed=1, place=place)
    a[ROWS:], b[ROWS:] = torch.nan, torch.inf
    given, expected = leaves(a, b), leaves(a[:ROWS], b[:ROWS])
    parts = zip(*(x.split(list(SIZES)) for x in expected))
    d, reference = ours(given[0].mT, given[1], ends(*SIZES, place=place)), torch.stack([x.mT @ y for x, y in parts])
    assert torch.equal(d, reference) and not d[1].any()  # of the empty group
    weights = numbers(len(SIZES), K, N, seed=2, place=place)
    (d * weights).sum().backward()
    (reference * weights).sum().backward()
    for x, y in zip(given, expected):
        assert torch.equal(x.grad[:ROWS], y.grad) and not x.grad[ROWS:].any()
    wide = ours(a.mT, b, ends(*SIZES, place=place), out_dtype=torch.float32)
    assert wide.dtype is torch.float32 and torch.equal(wide, reference.float())
    rows = ours(a.mT.contiguous(), b, ends(*SIZES, place=place))  # which is copied first
    assert torch.equal(rows, reference)
    with pytest.raises(jg.OperandError, match="parts of k"):
        ours(a.mT, b, ends(*SIZES, place=place), epilogue="d = relu(acc)")


def test_gradients_of_gradients():
    a, b, offs = operands()
    weights, of_first = numbers(ROWS, N, seed=2), [numbers(*a.shape, seed=3), numbers(*b.shape, seed=4)]

    def observe(product):
        given = leaves(a, b, weights)
        first = torch.autograd.grad((product(*given[:2]) * given[2]).sum(), given[:2], create_graph=True)
        return *first, *torch.autograd.grad(sum((x * y).sum() for x, y in zip(first, of_first)), given)

    for x, y in zip(observe(lambda a, b: ours(a, b, offs)), observe(theirs)):
        assert torch.equal(x, y)


@pytest.mark.parametrize("transform", ["vjp", "jvp", "vjp of jvp", "jvp of vjp", "dual"])
def test_transforms(transform):
    a, b, offs = operands()
    of_a, of_b, of_d = numbers(*a.shape, seed=3), numbers(*b.shape, seed=4), numbers(ROWS, N, seed=5)

    def observe(f):
        def vjp(a, b):
            return func.vjp(f, a, b)[1](of_d)

        def jvp(a, b):
            return func.jvp(f, (a, b), (of_a, of_b))[1]

        if transform == "dual":
            with forward_ad.dual_level():
                return [forward_ad.unpack_dual(f(forward_ad.make_dual(a, of_a), b)).tangent]
        if transform == "vjp":
            return vjp(a, b)
        if transform == "jvp":
            return [jvp(a, b)]
        if transform == "vjp of jvp":
            return func.vjp(jvp, a, b)[1](of_d)
        return func.jvp(vjp, (a, b), (of_a, of_b))[1]

    for x, y in zip(observe(lambda a, b: ours(a, b, offs)), observe(theirs), strict=True):
        assert torch.equal(x, y)


def test_vmap():
    a, b, offs = operands()
    batch = torch.stack([a, -a, a.flip(0)])
    assert torch.equal(
        func.vmap(lambda a: ours(a, b, offs))(batch),
        torch.stack([theirs(a, b) for a in batch]),
    )


# ---- room for rows of each group -----------------------------------------------------------------

ROOM = 9
COUNTS = (5, 0, 9, 7)


def rooms(place="cpu", counts=COUNTS, room=ROOM, **more):
    """Rows behind those of a group are NaN."""
    a = numbers(len(counts), room, K, place=place, **more)
    weights = numbers(len(counts), N, K, seed=1, place=place, **more)
    counts = torch.tensor(counts, dtype=torch.int32, device=place)
    is_used = (torch.arange(room, device=place) < counts[:, None])[:, :, None]
    return torch.where(is_used, a, torch.nan), weights.mT, counts, is_used


@pytest.mark.parametrize("place", PLACES)
def test_room_for_rows_results_and_gradients(place):
    a, b, counts, is_used = rooms(place)
    gradient = torch.where(is_used, numbers(*a.shape[:2], N, seed=2, place=place), torch.nan)
    given, expected = leaves(a, b), leaves(a.nan_to_num(), b)
    d, reference = ours(*given, counts), torch.bmm(*expected)
    assert torch.equal(torch.where(is_used, d, 0), reference)
    plain = ours(a, b, counts)
    assert torch.equal(torch.where(is_used, plain, 0), reference)
    d.backward(gradient)
    reference.backward(gradient.nan_to_num())
    for x, y in zip(given, expected):
        assert torch.equal(x.grad, y.grad) and x.grad.dtype == y.dtype
    assert not given[0].grad[1].any() and not given[1].grad[1].any()  # of the empty group


@pytest.mark.parametrize("transform", ["gradients of gradients", "jvp", "vmap"])
def test_room_for_rows_transforms(transform):
    a, b, counts, _ = rooms(counts=(ROOM,) * 4)  # all rows are defined
    of_a, of_b, of_d = numbers(*a.shape, seed=3), numbers(*b.shape, seed=4), numbers(*a.shape[:2], N, seed=5)

    def observe(f):
        if transform == "jvp":
            return [func.jvp(f, (a, b), (of_a, of_b))[1]]
        if transform == "vmap":
            return [func.vmap(lambda a: f(a, b))(torch.stack([a, -a]))]
        given = leaves(a, b, of_d)
        first = torch.autograd.grad((f(*given[:2]) * given[2]).sum(), given[:2], create_graph=True)
        return *first, *torch.autograd.grad(sum((x * y).sum() for x, y in zip(first, (of_a, of_b))), given)

    for x, y in zip(observe(lambda a, b: ours(a, b, counts)), observe(torch.matmul), strict=True):
        assert torch.equal(x, y)


def test_room_for_rows_as_an_operator():
    a, b, counts, _ = rooms(counts=(ROOM,) * 4)
    library.opcheck(torch.ops.jitgemm.grouped_matmul.default, (*leaves(a, b), counts, EMULATOR))
    with FlopCounterMode(display=False) as counter:
        ours(a, b, counts)
    assert counter.get_total_flops() == 2 * 4 * ROOM * K * N
    w = numbers(4, ROOM, seed=3)
    d = ours(a, b, counts, epilogue="d = w[m] * left(acc)", operands={"w": w})
    assert torch.equal(d, torch.bmm(a, b)[:, :, : N // 2] * w[..., None])
    meta = (x.to("meta") for x in (a, b, counts))
    assert jg.torch.grouped_matmul(*meta, out_dtype=torch.float32).shape == (4, ROOM, N)


def test_room_for_rows_in_a_compiled_program():
    compiled = torch.compile(ours, backend="aot_eager", fullgraph=True, dynamic=True)
    for counts, room in ((COUNTS, ROOM), ((1, 2, 3, 4), 4), ((0, 40, 0, 1), 41)):
        a, b, counts, is_used = rooms(counts=counts, room=room)
        given, expected = leaves(a, b), leaves(a.nan_to_num(), b)
        d, reference = (torch.where(is_used, x, 0) for x in (compiled(*given, counts), torch.bmm(*expected)))
        assert torch.equal(d, reference)
        d.sum().backward()
        reference.sum().backward()
        assert all(torch.equal(x.grad, y.grad) for x, y in zip(given, expected))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"a": (3, ROOM, K)}, "a has shape"),
        ({"a": (1, 4, ROOM, K)}, "(groups, rows, k)"),
        ({"b": (K, N)}, "they must be"),
        ({"rows": torch.zeros(ROOM, dtype=torch.int32)}, "it must be (m, k)"),
        ({"counts": ends(*COUNTS[1:])}, "offs"),
    ],
)
@pytest.mark.parametrize("needs_gradient", [False, True])
def test_room_for_rows_refusals(change, words, needs_gradient):
    change, (a, b, counts, _) = dict(change), rooms()
    a, b = numbers(*change.pop("a", a.shape)), numbers(*change.pop("b", b.shape))
    if needs_gradient:
        a.requires_grad_()
    with pytest.raises((jg.Error, RuntimeError), match=re.escape(words)):
        ours(a, b, change.pop("counts", counts), **change)


# ---- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_an_epilogue_has_operands(place):
    a, b, offs = operands(place)
    w, bias = numbers(ROWS, seed=2, place=place, dtype=torch.float32), numbers(len(SIZES), N, seed=3, place=place)
    group = torch.repeat_interleave(torch.arange(len(SIZES), device=place), torch.tensor(SIZES, device=place))
    text = "s: f32; d = s * w[m] * (acc + bias[b,n])"
    expected = 0.5 * w[:, None] * (theirs(a, b) + bias[group])
    d = ours(a, b, offs, epilogue=text, operands={"w": w, "s": 0.5, "bias": bias}, out_dtype=torch.float32)
    assert torch.equal(d, expected)
    gate, up = theirs(a, b).float().chunk(2, 1)
    pairs = ours(a, b, offs, epilogue="d = relu(left(acc)) * right(acc)")
    assert torch.equal(pairs, (gate.relu() * up).bfloat16())


def test_an_epilogue_has_no_derivatives():
    a, b, offs = operands()
    text = {"epilogue": "d = w[m] * acc", "operands": {"w": numbers(ROWS)}}
    for given in ((a.clone().requires_grad_(), b), (a, b.clone().requires_grad_())):
        with pytest.raises(jg.OperandError, match="no_grad"):
            ours(*given, offs, **text)
        with torch.no_grad():
            ours(*given, offs, **text)
    w = numbers(ROWS).requires_grad_()
    with pytest.raises(jg.OperandError, match="no_grad"):
        ours(a, b, offs, epilogue="d = w[m] * acc", operands={"w": w})
    with forward_ad.dual_level(), pytest.raises(jg.OperandError, match="no_grad"):
        ours(forward_ad.make_dual(a, a), b, offs, **text)


def test_a_result_of_another_type():
    a, b, offs = operands()
    given, expected = leaves(a, b), leaves(a, b)
    d = ours(*given, offs, out_dtype=torch.float32)
    assert d.dtype is torch.float32 and torch.equal(d, theirs(a, b).float())
    weights = numbers(ROWS, N, seed=2, dtype=torch.float32)
    (d * weights).sum().backward()
    (theirs(*expected) * weights).sum().backward()
    for x, y in zip(given, expected):
        assert torch.equal(x.grad, y.grad) and x.grad.dtype is torch.bfloat16


def test_gradients_of_f32_come_from_kernels_of_f32():
    a, b, offs = operands(dtype=torch.float32)
    given, expected = leaves(a, b), leaves(a, b)
    d = ours(*given, offs)
    assert torch.equal(d, theirs(a, b))
    theirs(*expected).square().sum().backward()
    d.square().sum().backward()
    for x, y in zip(given, expected):
        assert torch.equal(x.grad, y.grad) and x.grad.dtype is torch.float32


def test_autocast():
    a, b, offs = operands(dtype=torch.float32)
    given = leaves(a, b)
    with torch.autocast("cpu", torch.bfloat16):
        d = ours(*given, offs)
    assert d.dtype is torch.bfloat16 and torch.equal(d.float(), theirs(a, b))
    d.sum().backward()
    assert [x.grad.dtype for x in given] == [torch.float32] * 2


@pytest.mark.parametrize(
    "change",
    [
        {"a": (2, ROWS, K)},
        {"b": (N,)},
        {"b": (len(SIZES), K + 8, N)},
        {"offs": ends(*SIZES).long()},
        {"offs": ends(*SIZES[1:])},
        {"a_type": torch.float16},
        {"operands": {"w": numbers(ROWS)}},
        {"epilogue": "d = acc; pre[m,n] = acc"},
        {"epilogue": "d = w[m] * acc"},
    ],
)
@pytest.mark.parametrize("needs_gradient", [False, True])
def test_refusals(change, needs_gradient):
    change, (a, b, offs) = dict(change), operands()
    a = numbers(*change.pop("a", a.shape), dtype=change.pop("a_type", a.dtype))
    b, offs = numbers(*change.pop("b", b.shape)), change.pop("offs", offs)
    if needs_gradient and "epilogue" not in change:
        a.requires_grad_()
    with pytest.raises((jg.Error, RuntimeError)):
        ours(a, b, offs, **change)


# ---- who sees the operator -----------------------------------------------------------------------


def test_opcheck():
    a, b, offs = operands()
    tests = (*leaves(a, b), offs, EMULATOR)
    library.opcheck(torch.ops.jitgemm.grouped_matmul.default, tests)
    w = numbers(ROWS)
    more = {"epilogue": "d = w[m] * left(acc) * right(acc)", "names": ["w"], "operands": [w], "numbers": []}
    library.opcheck(torch.ops.jitgemm.grouped_matmul.default, (a, b, offs, EMULATOR), more)
    rows = leaves(a, numbers(ROWS, N, seed=2))
    library.opcheck(torch.ops.jitgemm.grouped_outer.default, (*rows, offs, EMULATOR))
    library.opcheck(torch.ops.jitgemm.grouped_outer.default, (*rows, offs, EMULATOR, None, None, torch.float32))


@pytest.mark.parametrize("place", PLACES)
def test_a_compiled_program(place):
    def f(a, b, offs):
        return ours(a, b, offs).relu()

    compiled = torch.compile(f, backend="aot_eager" if place == "cpu" else "inductor", fullgraph=True, dynamic=True)
    for sizes in (SIZES, (1, 2, 3, 4), (0, 40, 0, 1)):
        a, b, offs = operands(place, rows=sum(sizes), sizes=sizes)
        given, expected = leaves(a, b), leaves(a, b)
        d, reference = compiled(*given, offs), theirs(*expected, sizes).relu()
        assert torch.equal(d, reference)
        d.sum().backward()
        reference.sum().backward()
        assert all(torch.equal(x.grad, y.grad) for x, y in zip(given, expected))


def test_an_exported_program():
    class Product(torch.nn.Module):
        def forward(self, a, b, offs, w):
            return ours(a, b, offs, epilogue="d = w[m] * acc", operands={"w": w})

    rows = torch.export.Dim("rows", min=2, max=1000)
    a, b, offs = operands()
    program = torch.export.export(
        Product(), (a, b, offs, numbers(ROWS)), dynamic_shapes=({0: rows}, None, None, {0: rows})
    )
    a, b, offs = operands(rows=40, sizes=(10, 0, 10, 20))
    w = numbers(40, seed=3)
    assert torch.equal(program.module()(a, b, offs, w), theirs(a, b, (10, 0, 10, 20)) * w[:, None])


def test_meta_tensors():
    a, b, offs = (x.to("meta") for x in operands())
    assert jg.torch.grouped_matmul(a, b, offs).shape == (ROWS, N)
    assert jg.torch.grouped_matmul(a, b, offs, epilogue="d = even(acc) + odd(acc)").shape == (ROWS, N // 2)
    assert jg.torch.grouped_matmul(a, b, offs, out_dtype=torch.float32).dtype is torch.float32
    assert jg.torch.grouped_matmul(a.mT, a, offs).shape == (len(SIZES), K, K)


def test_a_function_mode_sees_the_call():
    class Names(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            names.append(function)
            return function(*args, **(kwargs or {}))

    names, (a, b, offs) = [], operands()
    with Names():
        d = ours(a, b, offs)
    assert jg.torch.grouped_matmul in names and torch.equal(d, theirs(a, b))


def test_flops():
    a, b, offs = operands()
    given = leaves(a, b)
    with FlopCounterMode(display=False) as counter:
        ours(*given, offs).sum().backward()
    assert counter.get_total_flops() == 3 * 2 * ROWS * K * N


@pytest.mark.gpu
def test_a_cuda_graph_takes_other_ends():
    a, b, offs = operands("cuda")
    product = partial(ours, a, b, offs)
    with torch.no_grad():
        product()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            d = product()
    for sizes in (SIZES, (0, 0, ROWS, 0), (8, 8, 8, 8)):
        offs.copy_(ends(*sizes))
        graph.replay()
        assert torch.equal(d, theirs(a, b, sizes))


# ---- gathered rows -------------------------------------------------------------------------------


def gathered_operands(place="cpu", sources=11):
    """a has fewer rows than the result. Some rows of the result are made of none of a's."""
    a, b, offs = operands(place)
    rows = torch.arange(ROWS, dtype=torch.int32, device=place) * 5 % (sources + 2) - 1
    return a[:sources].contiguous(), b, offs, rows


def rows_of(a, rows):
    padded = torch.cat([a, a.new_zeros(1, a.shape[1])])
    return padded[torch.where((rows >= 0) & (rows < len(a)), rows, len(a))]


@pytest.mark.parametrize("place", PLACES)
def test_gathered_rows_and_their_gradients(place):
    a, b, offs, rows = gathered_operands(place)
    weights = numbers(ROWS, N, seed=2, place=place)
    given, expected = leaves(a, b), leaves(a.double(), b.double())
    d, reference = ours(*given, offs, rows=rows), theirs(rows_of(expected[0], rows), expected[1])
    assert torch.equal(d.double(), reference)
    assert torch.equal(ours(a, b, offs, rows=rows).double(), reference)
    w = numbers(ROWS, seed=3, place=place)
    scaled = ours(a, b, offs, rows=rows, epilogue="d = w[m] * acc", operands={"w": w})
    assert torch.equal(scaled.double(), reference * w.double()[:, None])
    (d * weights).sum().backward()
    (reference * weights.double()).sum().backward()
    for x, y in zip(given, expected):
        assert torch.allclose(x.grad.double(), y.grad, rtol=2**-7, atol=0.5) and x.grad.dtype is torch.bfloat16
    assert x.grad.any()


def test_gathered_rows_as_an_operator():
    a, b, offs, rows = gathered_operands()
    library.opcheck(torch.ops.jitgemm.gathered_matmul.default, (*leaves(a, b), offs, rows, EMULATOR))
    compiled = torch.compile(partial(ours, rows=rows), backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(a, b, offs), theirs(rows_of(a, rows), b))
    more = [numbers(*x.shape, seed=seed) for x, seed in ((a, 3), (b, 4), (compiled(a, b, offs), 5))]

    def second(f):
        def of(a, b):
            return func.vjp(f, a, b)[1](more[2])

        return func.vjp(of, a, b)[1]((more[0], more[1]))

    both = zip(second(partial(ours, offs=offs, rows=rows)), second(lambda a, b: theirs(rows_of(a, rows), b)))
    assert all(torch.allclose(x, y, rtol=2**-6, atol=1) for x, y in both)
    of_a = more[0]
    tangent = func.jvp(lambda a: ours(a, b, offs, rows=rows), (a,), (of_a,))[1]
    assert torch.equal(tangent, theirs(rows_of(of_a, rows), b))
    with FlopCounterMode(display=False) as counter:
        ours(a, b, offs, rows=rows)
    assert counter.get_total_flops() == 2 * ROWS * K * N


@pytest.mark.parametrize("change", [{"rows": (2, 5)}, {"rows": (5,), "dtype": torch.int64}, {"b": (K, N)}])
@pytest.mark.parametrize("needs_gradient", [False, True])
def test_wrong_rows(change, needs_gradient):
    a, b, offs, rows = gathered_operands()
    rows = torch.zeros(change.get("rows", rows.shape), dtype=change.get("dtype", torch.int32))
    b = numbers(*change.get("b", b.shape))
    if needs_gradient:
        a.requires_grad_()
    with pytest.raises((jg.Error, RuntimeError)):
        ours(a, b, offs, rows=rows)


@pytest.mark.gpu
def test_a_cuda_graph_takes_other_rows():
    a, b, offs, rows = gathered_operands("cuda")
    with torch.no_grad():
        ours(a, b, offs, rows=rows)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            d = ours(a, b, offs, rows=rows)
    for first in (0, 3, 12):
        rows.copy_((torch.arange(ROWS) * 7 + first) % (len(a) + 2) - 1)
        graph.replay()
        assert torch.equal(d, theirs(rows_of(a, rows), b))
