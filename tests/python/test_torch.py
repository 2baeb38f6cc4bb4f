"""jitgemm.torch, and tensors of PyTorch, on the emulator; the same on a GPU is test_gpu.py."""

from __future__ import annotations

import copy
import subprocess
import sys
from functools import partial

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from torch import library

EMULATOR = "emulator:sm_80"


def tensor(*shape, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_tensors(dtype, transpose_a, transpose_b):
    a = tensor(24, 37, dtype=dtype).T if transpose_a else tensor(37, 24, dtype=dtype)
    b = tensor(19, 24, dtype=dtype, seed=1).T if transpose_b else tensor(24, 19, dtype=dtype, seed=1)
    d = jg.matmul(a, b, device=EMULATOR)
    assert d.dtype == dtype and d.is_contiguous() and d.device.type == "cpu"
    torch.testing.assert_close(d.double(), a.double() @ b.double(), rtol=0, atol=0)


def test_out_and_c():
    a, b, c = tensor(6, 5), tensor(5, 4, seed=1), tensor(6, 4, seed=2)
    out = torch.full((6, 8), torch.nan)
    assert jg.matmul(a, b, c=c, beta=2, out=out[:, 2:6], device=EMULATOR).data_ptr() == out[:, 2:6].data_ptr()
    torch.testing.assert_close(out[:, 2:6], a @ b + 2 * c, rtol=0, atol=0)
    assert out[:, :2].isnan().all() and out[:, 6:].isnan().all()


def test_expanded_batches_with_one_matrix_are_rows():
    x, w = tensor(2, 3, 5), tensor(4, 5, seed=1)
    torch.testing.assert_close(jg.matmul(x, w.T, device=EMULATOR), x @ w.T, rtol=0, atol=0)
    with pytest.raises(jg.OperandError, match=r"strides \(0, 1\)"):
        jg.matmul(x[0, :1].expand(3, 5), w.T, device=EMULATOR)


def test_batch_invariant_rows_and_their_gradients():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(40, 96, generator=generator)
    w = torch.randn(24, 96, generator=generator).requires_grad_()
    for rows in (1, 7, 33):
        part = x[:rows].clone().requires_grad_()
        whole = x.clone().requires_grad_()
        of_part = jitgemm.torch.linear(part, w, device=EMULATOR, deterministic="batch_invariant")
        of_whole = jitgemm.torch.linear(whole, w, device=EMULATOR, deterministic="batch_invariant")
        assert torch.equal(of_part, of_whole[:rows])
        of_part.pow(2).sum().backward()
        of_whole.pow(2).sum().backward()
        assert torch.equal(part.grad, whole.grad[:rows])
    model = torch.nn.Linear(96, 24)
    assert jitgemm.torch.replace_linear(model, device=EMULATOR, deterministic="batch_invariant") == [""]
    assert torch.equal(model(x[:5]), model(x)[:5])
    with pytest.raises(jg.SpecError, match="'always'.* run_to_run, batch_invariant"):
        jg.matmul(x, x.T, device=EMULATOR, deterministic="always")


def without_memory(x):
    x = x.clone()
    x.untyped_storage().resize_(0)
    return x


REFUSED = {
    "float64": (lambda x: x.double(), "a .*float64.*float16"),
    "complex": (lambda x: x.to(torch.complex64), "a is of type .*complex64"),
    "requires grad": (lambda x: x.clone().requires_grad_(), "a requires grad"),
    "meta": (lambda x: x.to("meta"), "a can't be handed over by its library|a lies on meta"),
    "sparse": (lambda x: x.to_sparse(), "a .*can't be handed over by its library"),
    "resized to nothing": (without_memory, "a of type torch.Tensor has no memory of its own"),
    "quantized": (
        lambda x: torch.quantize_per_tensor(x, 1, 0, torch.qint8),
        "a can't be handed over|a is of type .*qint8",
    ),
    "masked": (lambda x: torch.masked.masked_tensor(x, x > 0), "a of type .*MaskedTensor has no memory of its own"),
    "negated": (torch._neg_view, "a .*negates"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make, words", REFUSED.values(), ids=REFUSED)
def test_refused(make, words):
    with pytest.raises(jg.OperandError, match=words):
        jg.matmul(make(tensor(6, 5)), tensor(5, 4), device=EMULATOR)


class Negates(torch.Tensor):
    """Of a type whose is_neg is Python's, where a tensor's own is C's."""

    def is_neg(self):
        return True


def test_what_a_type_says_of_its_tensors_counts():
    for kind, refused in ((torch.Tensor, False), (Negates, True)):
        a, b = tensor(6, 5).as_subclass(kind), tensor(5, 4, seed=1)
        if refused:
            with pytest.raises(jg.OperandError, match="a is a view that negates"):
                jg.matmul(a, b, device=EMULATOR)
        else:
            torch.testing.assert_close(jg.matmul(a, b, device=EMULATOR), tensor(6, 5) @ b)


def test_out_is_no_part_of_a_graph():
    with pytest.raises(jg.OperandError, match="out requires grad"):
        jg.matmul(tensor(6, 5), tensor(5, 4), out=torch.zeros(6, 4, requires_grad=True), device=EMULATOR)


def test_derivatives_that_are_carried_forward_are_not_lost():
    import torch.autograd.forward_ad as forward_ad

    a, b = tensor(6, 5), tensor(5, 4, seed=1)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(a, torch.ones_like(a))
        with pytest.raises(jg.OperandError, match="a .*tangent"):
            jg.matmul(dual, b, device=EMULATOR)
        torch.testing.assert_close(jg.matmul(a, b, device=EMULATOR), a @ b)  # a constant of it
        assert forward_ad.unpack_dual(Doubled.apply(dual, b)).tangent is not None
    with pytest.raises(jg.OperandError, match="a can't be handed over by its library|a has a tangent"):
        torch.func.jvp(lambda x: jg.matmul(x, b, device=EMULATOR), (a,), (torch.ones_like(a),))


class Doubled(torch.autograd.Function):
    """A function that knows its derivative, as users write them around jitgemm.matmul."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_forward(a, b)
        return jg.matmul(a, b, alpha=2, device=EMULATOR)

    @staticmethod
    def jvp(ctx, of_a, of_b):
        return jg.matmul(of_a, ctx.saved_tensors[1], alpha=2, device=EMULATOR)


def traced(f, x):
    return torch.jit.trace(f, x)


def recorded(f, x):
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(f)(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("trace", [traced, recorded])
def test_no_product_becomes_a_constant_of_a_trace(trace):
    a, b, out = tensor(6, 5), tensor(5, 4, seed=1), torch.zeros(6, 4)
    kernel = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    for call in (
        lambda x: jg.matmul(x, b, device=EMULATOR),
        lambda x: jg.matmul(x, b, out=out, device=EMULATOR),
        lambda x: kernel(x, b, out=out),
    ):
        with pytest.raises(jg.OperandError, match="is traced"):
            trace(call, a)
    f = trace(lambda x: x.sum() + jg.torch.matmul(x, b, device=EMULATOR), a)
    torch.testing.assert_close(f(a + 1), (a + 1).sum() + (a + 1) @ b)


@pytest.mark.parametrize("shape_b", [(3, 5, 4), (2, 3, 5, 4), (1, 5, 4)])
def test_batches_have_the_derivatives_of_torch(shape_b):
    given = tensor(2, 3, 6, 5), tensor(*shape_b, seed=1)
    ours, theirs = ([x.clone().requires_grad_() for x in given] for _ in range(2))
    weight = tensor(2, 3, 6, 4, seed=2)
    d = jg.torch.matmul(*ours, device=EMULATOR)
    (d * weight).sum().backward()
    expected = torch.matmul(*theirs)
    (expected * weight).sum().backward()
    torch.testing.assert_close(d, expected)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x.grad, y.grad)


def test_vmap_of_both_operands_is_one_batch(monkeypatch):
    a, b = tensor(3, 6, 5), tensor(5, 4, 3, seed=1)
    shapes = []
    launch = jg._core.matmul
    monkeypatch.setattr(jg._core, "matmul", lambda a, b, **more: shapes.append(a.shape) or launch(a, b, **more))
    d = torch.vmap(lambda x, y: jg.torch.matmul(x, y, device=EMULATOR), (0, 2))(a, b)
    torch.testing.assert_close(d, torch.matmul(a, b.movedim(2, 0)))
    assert shapes == [(3, 6, 5)]


def test_a_batch_passes_opcheck():
    a, b = tensor(3, 6, 5).requires_grad_(), tensor(3, 5, 4, seed=1).requires_grad_()
    library.opcheck(torch.ops.jitgemm.matmul.default, (a, b), {"device": EMULATOR})


def test_tensors_of_transforms_and_fake_ones_are_refused():
    from torch._subclasses import FakeTensorMode

    a, b = tensor(2, 6, 5), tensor(5, 4, seed=1)
    with pytest.raises(jg.OperandError, match="a .*can't be handed over by its library"):
        torch.vmap(lambda x: jg.matmul(x, b, device=EMULATOR))(a)
    with FakeTensorMode():
        fake = torch.ones(6, 5)
    with pytest.raises(jg.OperandError, match="a of type .*FakeTensor has no memory of its own|a can't be handed over"):
        jg.matmul(fake, b, device=EMULATOR)


def test_tensors_of_older_versions_are_described_by_their_attributes():
    from jitgemm import _arrays

    x = tensor(6, 8, dtype=torch.bfloat16)[1:, 2:].T
    described = _arrays.describe(x, "a", None)
    assert described[:7] == (x.data_ptr(), (6, 5), (1, 8), "bfloat16", 2, -1, False)
    made = _arrays.empty(x, (2, 3), "f32")
    assert made.dtype == torch.float32 and made.shape == (2, 3)
    for refused, words in (
        (x.clone().requires_grad_(), "requires grad"),
        (x.to("meta"), "lies on meta"),
        (torch._neg_view(x), "negates"),
    ):
        with pytest.raises(jg.OperandError, match=words):
            _arrays.describe(refused, "a", None)
    with torch.autograd.forward_ad.dual_level():
        with pytest.raises(jg.OperandError, match="has a tangent"):
            _arrays.describe(torch.autograd.forward_ad.make_dual(x, x), "a", None)
        assert _arrays.describe(x, "a", None)[:2] == described[:2]


def test_parameters_without_gradients():
    weight = torch.nn.Parameter(tensor(4, 5))
    with torch.no_grad():
        torch.testing.assert_close(jg.matmul(tensor(6, 5), weight.T, device=EMULATOR), tensor(6, 5) @ weight.T)


def product(a, b):
    return jg.torch.matmul(a, b, device=EMULATOR)


@pytest.mark.parametrize("shape_a", [(4, 3), (2, 4, 3)])
def test_gradients_by_differences(shape_a):
    # A product is linear in each operand: differences of any width are exact but for rounding.
    a, b = tensor(*shape_a).requires_grad_(), tensor(3, 5, seed=1).requires_grad_()
    how = {"eps": 0.5, "atol": 1e-4, "rtol": 0}
    with pytest.warns(UserWarning, match="double precision"):
        assert torch.autograd.gradcheck(product, (a, b), **how)
        assert torch.autograd.gradgradcheck(product, (a, b), **how)
        assert torch.autograd.gradcheck(partial(torch.ops.jitgemm.matmul, device=EMULATOR), (a, b), **how)


def test_the_gradient_of_a_sum_is_expanded():
    a, b = tensor(4, 3).requires_grad_(), tensor(3, 5, seed=1).requires_grad_()
    product(a, b).sum().backward()
    torch.testing.assert_close(a.grad, b.detach().sum(1).expand(4, 3))
    torch.testing.assert_close(b.grad, a.detach().sum(0)[:, None].expand(3, 5))


def leaf(x):
    return x.detach().clone(memory_format=torch.preserve_format).requires_grad_()


BATCHES = {  # of A (3, 7, 5) or less, B and the gradient, as they lie
    "a gradient by column": (tensor(3, 7, 5), tensor(5, 4, seed=1), tensor(3, 4, 7, seed=2).mT),
    "a gradient of permuted batches": (tensor(3, 7, 5), tensor(5, 4, seed=1), tensor(7, 3, 4, seed=2).transpose(0, 1)),
    "an expanded gradient": (tensor(3, 7, 5), tensor(5, 4, seed=1), tensor(1, 1, 4, seed=2).expand(3, 7, 4)),
    "a B of one": (tensor(3, 7, 5), tensor(1, 5, 4, seed=1), tensor(3, 7, 4, seed=2)),
    "a transposed B of one": (tensor(3, 7, 5), tensor(1, 4, 5, seed=1).mT, tensor(3, 7, 4, seed=2)),
    "a transposed A of one": (tensor(1, 5, 7).mT, tensor(5, 4, seed=1), tensor(1, 7, 4, seed=2)),
    "a slice of rows": (tensor(3, 9, 5)[:1, 1:8], tensor(5, 4, seed=1), tensor(1, 7, 4, seed=2)),
    "a pitch": (tensor(3, 7, 8)[..., :5], tensor(5, 4, seed=1), tensor(3, 7, 8, seed=2)[..., 2:6]),
    "two leading dimensions": (tensor(2, 3, 7, 5), tensor(5, 4, seed=1), tensor(2, 3, 7, 4, seed=2)),
    "no row": (tensor(3, 0, 5), tensor(5, 4, seed=1), tensor(3, 0, 4, seed=2)),
    "no column": (tensor(3, 7, 5), tensor(5, 0, seed=1), tensor(3, 7, 0, seed=2)),
    "a sum of nothing": (tensor(3, 7, 0), tensor(0, 4, seed=1), tensor(3, 7, 4, seed=2)),
}


@pytest.mark.parametrize("a, b, gradient", BATCHES.values(), ids=BATCHES)
def test_batches_forward_and_backward(a, b, gradient):
    expected = [leaf(a), leaf(b)]
    (expected[0] @ expected[1]).backward(gradient)
    for multiply in (product, partial(torch.ops.jitgemm.matmul, device=EMULATOR)):
        given = [leaf(a), leaf(b)]
        d = multiply(*given)
        torch.testing.assert_close(d, a @ b, rtol=0, atol=0)
        d.backward(gradient)
        for ours, theirs in zip(given, expected, strict=True):
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("name", ["a B of one", "a transposed A of one", "a pitch", "a sum of nothing"])
def test_the_operator_keeps_its_promises_for_batches(name, gradient):
    a, b, _ = BATCHES[name]
    a, b = (leaf(a), leaf(b)) if gradient else (a, b)
    library.opcheck(torch.ops.jitgemm.matmul.default, (a, b, EMULATOR))


def test_one_b_that_is_expanded_over_the_batch():
    a, b = tensor(3, 7, 5), tensor(5, 4, seed=1)
    for views in ((a, b.expand(3, 5, 4)), (a, b.mT.contiguous().mT.expand(3, 5, 4)), (a[None], b.expand(1, 3, 5, 4))):
        torch.testing.assert_close(product(*views), a @ b if views[0].dim() == 3 else (a @ b)[None], rtol=0, atol=0)
        one_a = product(a[0], views[1])
        torch.testing.assert_close(one_a, a[0].expand(views[1].shape[0], 7, 5) @ views[1], rtol=0, atol=0)


BATCHES_OF_PRODUCTS = {
    "a batch of two": (tensor(3, 7, 5), tensor(3, 5, 4, seed=1)),
    "a transposed batch": (tensor(3, 5, 7).mT, tensor(5, 4, seed=1)),
    "permuted leading dimensions": (tensor(7, 3, 5).transpose(0, 1), tensor(5, 4, seed=1)),
    "one A for all": (tensor(1, 7, 5).expand(3, 7, 5), tensor(5, 4, seed=1)),
}


@pytest.mark.parametrize("a, b", BATCHES_OF_PRODUCTS.values(), ids=BATCHES_OF_PRODUCTS)
def test_leading_dimensions_that_are_no_rows_are_a_batch(a, b):
    for call in (jg.matmul, jg.torch.matmul):
        torch.testing.assert_close(call(a, b, device=EMULATOR), a @ b, rtol=0, atol=0)


def test_linear_takes_rows_that_lie_anyhow():
    weight, bias = leaf(tensor(4, 5, seed=1)), leaf(tensor(4, seed=2))
    for x in (
        tensor(7, 3, 5).transpose(0, 1),
        tensor(3, 5, 7).mT,
        tensor(1, 7, 5).expand(3, 7, 5),
        tensor(1, 5).expand(6, 5),
    ):
        ours, theirs = leaf(x), leaf(x)
        d = jg.torch.linear(ours, weight, bias, device=EMULATOR)
        expected = torch.nn.functional.linear(theirs, weight, bias)
        torch.testing.assert_close(d, expected, rtol=0, atol=0)
        d.sum().backward()
        expected.sum().backward()
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape_a", [(4, 3), (2, 4, 3)])
@pytest.mark.parametrize("gradient", [False, True])
def test_the_operator_keeps_its_promises(shape_a, gradient):
    a, b = tensor(*shape_a).requires_grad_(gradient), tensor(5, 3, seed=1).requires_grad_(gradient)
    library.opcheck(torch.ops.jitgemm.matmul.default, (a, b.mT, EMULATOR))


def test_linear():
    x, weight, bias = tensor(2, 6, 5), tensor(4, 5, seed=1), tensor(4, seed=2)
    expected = torch.nn.functional.linear
    for given in ((x, weight), (x, weight, bias), (x[0, 0], weight, bias)):
        torch.testing.assert_close(jg.torch.linear(*given, device=EMULATOR), expected(*given), rtol=0, atol=0)
    with torch.autocast("cpu", torch.bfloat16):
        d = jg.torch.linear(x, weight, bias, device=EMULATOR)
    assert d.dtype == torch.bfloat16


def biased(x, weight, bias):
    return jg.torch.linear(x, weight, bias, device=EMULATOR)


@pytest.mark.parametrize("shape", [(2, 6, 5), (7, 5), (1, 5), (5,), (0, 5)])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_gradients_of_a_bias(shape, n):
    given = tensor(*shape), tensor(n, 5, seed=1), tensor(n, seed=2)
    for wanted in ((2,), (0, 2), (1, 2), (0, 1, 2)):
        ours, theirs = ([leaf(x) if i in wanted else x for i, x in enumerate(given)] for _ in range(2))
        d, expected = biased(*ours), torch.nn.functional.linear(*theirs)
        torch.testing.assert_close(d, expected, rtol=0, atol=0)
        gradient = tensor(*d.shape, seed=3)
        d.backward(gradient)
        expected.backward(gradient)
        for i in wanted:
            torch.testing.assert_close(ours[i].grad, theirs[i].grad, rtol=0, atol=0)
    how = {"eps": 0.5, "atol": 1e-4, "rtol": 0}
    if shape[0] != 0 and n == 3:
        with pytest.warns(UserWarning, match="double precision"):
            assert torch.autograd.gradcheck(biased, [leaf(x) for x in given], **how)
            assert torch.autograd.gradgradcheck(biased, [leaf(x) for x in given], **how)


def test_a_bias_is_added_before_the_rounding():
    x, weight = torch.tensor([[1.0], [2.0]]).bfloat16(), torch.tensor([[129.0]]).bfloat16()
    bias = torch.tensor([2.0**-7]).bfloat16()
    small = torch.tensor([[1 + 2**-7]]).bfloat16()
    d = biased(small, small, bias)  # 1 + 2^-6 + 2^-14 + 2^-7, which is 1 + 3 * 2^-7 and a bit
    assert d.item() == 1 + 3 * 2**-7
    tie = torch.tensor(
        [2.0**-8]
    ).bfloat16()  # 1 + 2^-6 + 2^-14 + 2^-8 is above the middle; the rounded product's sum a tie
    assert biased(small, small, tie).item() == 1 + 3 * 2**-7
    assert ((small @ small.T) + tie).item() == 1 + 2 * 2**-7
    torch.testing.assert_close(biased(x, weight, bias), (x.float() @ weight.float().T + bias.float()).bfloat16())


def test_a_bias_that_no_kernel_reads_is_added_behind():
    x, weight = tensor(6, 5), tensor(4, 5, seed=1)
    for bias in (tensor(8, seed=2)[::2], tensor(1, 4, seed=2), tensor(1, seed=2), tensor(6, 1, seed=2)):
        d = biased(x, weight, bias)
        expected = x @ weight.T + bias
        assert d.dtype == expected.dtype
        torch.testing.assert_close(d, expected, rtol=0, atol=0)
    for bias, rule in (
        (tensor(4, seed=2).double(), "bias .*torch.float64.* x .*torch.float32"),
        (tensor(3, seed=2), r"bias has shape \(3,\)"),
        (tensor(2, 6, 4, seed=2), r"bias has shape \(2, 6, 4\)"),
    ):
        with pytest.raises(jg.OperandError, match=rule):
            biased(x, weight, bias)
    whole = tensor(9, seed=2)
    torch.testing.assert_close(biased(x, weight, whole[1:5]), x @ weight.T + whole[1:5], rtol=0, atol=0)


class Transformer(torch.nn.Module):
    """Small enough for the emulator: attention and a perceptron, each with its Linear layers."""

    def __init__(self, width=16, vocabulary=11):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, width)
        self.qkv = torch.nn.Linear(width, 3 * width, bias=False)
        self.proj = torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width)
        )
        self.head = torch.nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens)
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        x = x + self.proj(torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1))
        return self.head(x + self.mlp(x))


def losses(model, tokens, steps=3, rate=0.5, half=False):
    """Of steps of training; `half`: under autocast to bf16."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    seen = []
    for _ in range(steps):
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=half):
            logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


def test_a_transformer_learns_the_same():
    torch.manual_seed(0)
    model = Transformer()
    replaced = copy.deepcopy(model)
    state = set(model.state_dict())
    assert jg.torch.replace_linear(replaced, device=EMULATOR) == ["qkv", "proj", "mlp.0", "mlp.2", "head"]
    assert set(replaced.state_dict()) == state and isinstance(replaced.head, torch.nn.Linear)
    tokens = torch.randint(0, 11, (2, 7))
    expected = losses(model, tokens)
    assert expected[-1] < expected[0]
    assert losses(replaced, tokens) == pytest.approx(expected, rel=1e-5)


def test_only_some_layers():
    model = Transformer()
    assert jg.torch.replace_linear(model, only=lambda name, module: name != "head" and module.bias is None) == ["qkv"]
    assert type(model.head) is torch.nn.Linear


def test_the_operators_refuse_what_their_fake_kernels_refuse():
    a, b = tensor(6, 5), tensor(5, 4, seed=1)
    for place in ("cpu", "meta"):
        for bias in (tensor(3), tensor(1, 4), tensor(6, 4), tensor(6, 1), torch.ones(())):
            with pytest.raises(jg.OperandError, match="bias has shape"):
                torch.ops.jitgemm.matmul(a.to(place), b.to(place), EMULATOR, None, bias.to(place))
        for options in ({"device": "nonsense"}, {"device": EMULATOR, "deterministic": "always"}):
            with pytest.raises(jg.SpecError, match="nonsense|always"):
                jg.torch.matmul(a.to(place), b.to(place), **options)
    for call, operands in ((jg.torch.matmul, (a, None)), (jg.torch.linear, (None, b)), (jg.torch.linear, ([1.0], b))):
        with pytest.raises(jg.OperandError, match="a torch.Tensor"):
            call(*operands, device=EMULATOR)


INVARIANT = "batch_invariant"


def test_options_of_layers_are_what_the_last_call_says():
    x, model = tensor(2, 7), torch.nn.Sequential(torch.nn.Linear(7, 3), torch.nn.Linear(3, 2))
    expected = model(x)
    with pytest.raises(jg.OperandError, match="no device is named"):
        assert jg.torch.replace_linear(model) == ["0", "1"]
        model(x)
    assert jg.torch.replace_linear(model, device=EMULATOR, deterministic=INVARIANT) == ["0", "1"]
    torch.testing.assert_close(model(x), expected)
    assert (model[0].jitgemm_device, model[0].jitgemm_deterministic) == (EMULATOR, INVARIANT)
    assert jg.torch.replace_linear(model, device=EMULATOR, only=lambda name, layer: name == "0") == ["0"]
    assert (model[0].jitgemm_device, model[0].jitgemm_deterministic) == (EMULATOR, None)
    assert model[1].jitgemm_deterministic == INVARIANT


@pytest.fixture
def maths(monkeypatch):
    """The math of each product that is asked for."""
    seen = []
    real = jg._core.matmul

    def matmul(*arrays, **options):
        seen.append(options.get("math"))
        return real(*arrays, **options)

    monkeypatch.setattr(jg._core, "matmul", matmul)
    return seen


IN_PARTS = {"math": "f16x3", "device": "emulator:sm_90a"}


def compiled(function):
    """As a graph that calls the operators."""
    return torch.compile(function, backend="aot_eager", fullgraph=True)


@pytest.mark.parametrize("way", [lambda f: f, compiled])
def test_gradients_are_multiplied_as_the_product(maths, way):
    w, bias = tensor(5, 7, seed=1).requires_grad_(), tensor(5, seed=2).requires_grad_()
    for activation, products in ((None, 3), ("silu", 3)):
        x = tensor(4, 7).requires_grad_()
        maths.clear()
        d = way(partial(jg.torch.linear, activation=activation, **IN_PARTS))(x, w, bias)
        d.sum().backward()
        assert maths == ["f16x3"] * products
        expected = torch.nn.functional.linear(x, w, bias)
        torch.testing.assert_close(d, expected if activation is None else torch.nn.functional.silu(expected))


def test_math_counts_for_f32_alone(maths):
    half = tensor(4, 7, dtype=torch.float16), tensor(5, 7, dtype=torch.float16, seed=1)
    torch.testing.assert_close(jg.torch.linear(*half, **IN_PARTS), torch.nn.functional.linear(*half))
    with torch.autocast("cpu", torch.bfloat16):
        assert jg.torch.linear(tensor(4, 7), tensor(5, 7, seed=1), **IN_PARTS).dtype == torch.bfloat16
    assert maths == [None, None]
    with pytest.raises(jg.SpecError, match="f16x2"):
        jg.torch.linear(*half, math="f16x2", device=EMULATOR)


def test_replaced_layers_multiply_in_parts(maths):
    x, model = tensor(2, 7), torch.nn.Sequential(torch.nn.Linear(7, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    expected = model(x)
    for options in ({}, {"fuse": False}):
        maths.clear()
        jg.torch.replace_linear(model, **IN_PARTS, **options)
        torch.testing.assert_close(model(x), expected)
        copied = copy.deepcopy(model)
        torch.testing.assert_close(torch.jit.script(copied)(x), expected)
        assert len(maths) >= 2 and set(maths) == {"f16x3"}
    texts = list(jitgemm._torch_warm.lines(model, 4))
    assert len(texts) == 2 and all("math=f16x3" in text for text in texts)
    jg.torch.restore_linear(model)
    assert all("math" not in text for text in jitgemm._torch_warm.lines(model, 4))


def test_the_operator_with_math():
    a, b = tensor(6, 5).requires_grad_(), tensor(5, 4, seed=1).requires_grad_()
    more = {"device": IN_PARTS["device"], "math": "f16x3", "bias": tensor(4, seed=2)}
    library.opcheck(torch.ops.jitgemm.matmul.default, (a, b), more)
    many = torch.stack([a, a + 1])
    d = torch.vmap(partial(jg.torch.matmul, **IN_PARTS), (0, None))(many, b)
    torch.testing.assert_close(d, many @ b)


def test_a_replaced_model_is_restored():
    x, model = tensor(2, 7), torch.nn.Sequential(torch.nn.Linear(7, 3), torch.nn.Linear(3, 2))
    before, state = [dict(layer.__dict__) for layer in model], model.state_dict()
    jg.torch.replace_linear(model, device=EMULATOR, deterministic=INVARIANT)
    assert jg.torch.restore_linear(model, only=lambda name, layer: name == "1") == ["1"]
    assert [type(layer) for layer in model] == [jg.torch.Linear, torch.nn.Linear]
    assert jg.torch.restore_linear(model) == ["0"]
    assert jg.torch.restore_linear(model) == []
    assert [type(layer) for layer in model] == [torch.nn.Linear, torch.nn.Linear]
    assert [list(layer.__dict__) for layer in model] == [list(kept) for kept in before]
    assert all(model.state_dict()[name] is not None for name in state)
    model(x)


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"device": "cpu"}, jg.SpecError, "cpu"),
        ({"device": "emulator:sm_1"}, jg.SpecError, "sm_1"),
        ({"device": 5}, jg.SpecError, "5"),
        ({"deterministic": "always"}, jg.SpecError, "always"),
        ({"deterministic": True}, jg.SpecError, "deterministic"),
        ({"math": "f16x2"}, jg.SpecError, "f16x2"),
        ({"only": "head"}, TypeError, "only"),
    ],
)
def test_options_that_no_layer_takes_change_nothing(options, error, words):
    model = torch.nn.Sequential(torch.nn.Linear(7, 3))
    with pytest.raises(error, match=words):
        jg.torch.replace_linear(model, **options)
    assert type(model[0]) is torch.nn.Linear
    with pytest.raises(TypeError, match="Module"):
        jg.torch.replace_linear("model")


def test_a_device_of_torch_is_a_device():
    layer = torch.nn.Linear(7, 3)
    jg.torch.replace_linear(layer, device=torch.device("cuda:1"))
    assert layer.jitgemm_device == "cuda:1"


class Adapter(torch.nn.Linear):
    pass


def test_other_kinds_of_linear_layers_are_left_alone():
    attention = torch.nn.MultiheadAttention(8, 2)
    normed = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(7, 3))
    layers = [Adapter(7, 3), torch.nn.LazyLinear(3), torch.nn.Bilinear(7, 3, 2), normed, attention.out_proj]
    quantized = torch.ao.nn.quantized.dynamic.Linear(7, 3)
    layers += [torch.nn.Linear(7, 3), torch.nn.Linear(7, 3)]
    layers[-2].weight = torch.nn.Parameter(layers[-2].weight.detach().as_subclass(Negates))
    layers[-1].forward = lambda x: x + 1
    kinds = [type(layer) for layer in layers]
    assert jg.torch.replace_linear(torch.nn.ModuleList([*layers, quantized])) == []
    assert [type(layer) for layer in layers] == kinds


@pytest.mark.filterwarnings("ignore")
def test_compiled():
    torch.manual_seed(0)
    model = Transformer()
    jg.torch.replace_linear(model, device=EMULATOR)
    tokens = torch.randint(0, 11, (2, 7))
    expected = losses(copy.deepcopy(model), tokens)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    assert losses(compiled, tokens) == pytest.approx(expected, rel=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_graph_has_the_operator():
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph

    compiled = torch.compile(lambda x, w: jg.torch.linear(x, w, device=EMULATOR), backend=backend, fullgraph=True)
    x, w = tensor(6, 5), tensor(4, 5, seed=1)
    torch.testing.assert_close(compiled(x, w), x @ w.T, rtol=0, atol=0)
    assert any(
        node.target is torch.ops.jitgemm.matmul.default or "jitgemm" in str(node.target)
        for node in graphs[0].graph.nodes
    )


def test_products_of_one_dimension():
    matrix, vector = tensor(6, 5), tensor(5, seed=1)
    for a, b in ((matrix, vector), (vector, matrix.T), (vector, vector), (vector, tensor(1, 5, 4))):
        d, theirs = product(leaf(a), leaf(b)), a @ b
        torch.testing.assert_close(d.detach(), theirs, rtol=0, atol=0)
        torch.testing.assert_close(product(a, b), theirs, rtol=0, atol=0)
        ours, expected = [leaf(a), leaf(b)], [leaf(a), leaf(b)]
        product(*ours).pow(2).sum().backward()
        (expected[0] @ expected[1]).pow(2).sum().backward()
        for one, other in zip(ours, expected, strict=True):
            torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=0)
    with pytest.raises(jg.OperandError, match="two dimensions or more"):
        torch.ops.jitgemm.matmul(vector, matrix.T, EMULATOR)


def test_a_weight_of_one_dimension_does_not_warn(recwarn):
    jg.torch.linear(tensor(6, 5), tensor(5, seed=1), device=EMULATOR)
    assert not recwarn.list


def test_a_package_that_was_imported_anew_has_its_operators():
    source = """
import gc
import sys
import torch

a, b = torch.ones(6, 5), torch.ones(5, 4)
for _ in range(3):
    for name in [name for name in sys.modules if name.partition(".")[0] == "jitgemm"]:
        del sys.modules[name]
    import jitgemm as jg

    device = "emulator:sm_80"
    jg.torch.matmul(a, b, device=device)
    gc.collect()
    x = a.clone().requires_grad_()
    torch.ops.jitgemm.matmul(x, b, device).sum().backward()
    many = torch.vmap(lambda a: jg.torch.matmul(a, b, device=device))(torch.stack([a, a]))
    compiled = torch.compile(lambda a: jg.torch.linear(a, b.T, device=device), backend="eager", fullgraph=True)
    try:
        torch.ops.jitgemm.matmul(a[0], b, device)
    except jg.OperandError:
        print(bool((x.grad == 4).all() and (many == 5).all() and (compiled(a) == 5).all()))
"""
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout.split()) == (0, ["True"] * 3), ended.stderr


@pytest.mark.parametrize("c_shape", [(3, 6, 4), (4,), (6, 1), (3, 1, 4), ()])
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0.5, 2), (0, 1)])
def test_bmm_and_baddbmm(c_shape, beta, alpha):
    a, b, c = tensor(3, 6, 5), tensor(3, 5, 4, seed=1), tensor(*c_shape, seed=2)
    if beta == 0:
        c = torch.full_like(c, torch.nan)  # not read
    expected = torch.baddbmm(c, a, b, beta=beta, alpha=alpha)
    options = {"beta": beta, "alpha": alpha, "device": EMULATOR}
    torch.testing.assert_close(jg.torch.bmm(a, b, device=EMULATOR), torch.bmm(a, b), rtol=0, atol=0)
    torch.testing.assert_close(jg.torch.baddbmm(c, a, b, **options), expected, rtol=0, atol=0)
    ours, theirs = ([x.clone().requires_grad_() for x in (c, a, b)] for _ in range(2))
    jg.torch.baddbmm(*ours, **options).square().sum().backward()
    torch.baddbmm(*theirs, beta=beta, alpha=alpha).square().sum().backward()
    for mine, other in zip(ours[beta == 0 :], theirs[beta == 0 :], strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=0, atol=0)


def test_bmm_and_baddbmm_refuse_other_shapes():
    a, b = tensor(3, 6, 5), tensor(3, 5, 4)
    with pytest.raises(jg.OperandError, match=r"\(2, 6, 5\) and b \(3, 5, 4\)"):
        jg.torch.bmm(a[:2], b, device=EMULATOR)
    with pytest.raises(jg.OperandError, match=r"\(batch, m, k\)"):
        jg.torch.bmm(a[0], b[0], device=EMULATOR)
    for shape in [(3, 6, 5), (2, 6, 4), (1, 3, 6, 4)]:
        with pytest.raises(jg.OperandError, match="must broadcast to"):
            jg.torch.baddbmm(tensor(*shape), a, b, device=EMULATOR)
