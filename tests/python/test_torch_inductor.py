"""jitgemm among Inductor's choices. The emulator stands for a GPU, and times are planted."""

from __future__ import annotations

import copy
import pickle
import shutil

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.9")
if shutil.which("g++") is None:
    pytest.skip("Inductor needs a compiler for its code", allow_module_level=True)

import jitgemm.torch  # noqa: E402
from jitgemm import _torch_fused as fused  # noqa: E402
from jitgemm import _torch_inductor as inductor  # noqa: E402
from jitgemm import _torch_inductor_mlp as inductor_mlp  # noqa: E402
from torch._inductor import config  # noqa: E402
from torch._inductor.utils import run_and_get_code  # noqa: E402

OURS = {False: "extern_kernels.jitgemm_mm(", True: "extern_kernels.jitgemm_addmm("}
THEIRS = {False: "extern_kernels.mm(", True: "extern_kernels.addmm("}


@pytest.fixture(autouse=True)
def on_the_emulator(monkeypatch):
    """Host memory counts as a GPU's, no graph comes from a cache, and everything is as before afterwards."""
    monkeypatch.setattr(inductor, "_DEVICES", ("cpu",))
    with jg.device("emulator:sm_80"), config.patch(force_disable_caches=True):
        yield
    jg.torch.unregister_inductor()
    torch._dynamo.reset()


@pytest.fixture
def times(monkeypatch):
    """Milliseconds that jitgemm's and the other kernels take."""
    planted = {"ours": 1.0, "theirs": 1.0}
    base = inductor.ExternKernelCaller

    def milliseconds(call):
        call()
        return planted["ours" if call.func.__module__ == fused.__name__ else "theirs"]

    monkeypatch.setattr(inductor_mlp, "milliseconds", milliseconds)
    monkeypatch.setattr(inductor_mlp, "_known", {})

    def benchmark(self, *args, out):
        return planted["ours" if isinstance(self, inductor._Caller) else "theirs"]

    monkeypatch.setattr(base, "benchmark", benchmark)
    return planted


def small(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randint(-3, 4, shape).float()


def code_of(f, *operands, dynamic=False):
    torch._dynamo.reset()
    with torch.no_grad():
        d, codes = run_and_get_code(torch.compile(f, fullgraph=True, dynamic=dynamic), *operands)
        torch.testing.assert_close(d, f(*operands))
    return "\n".join(codes)


X, W, BIAS = small(6, 5), small(4, 5, seed=1), small(4, seed=2)


def linear(with_bias):
    return lambda x, w, bias: torch.nn.functional.linear(x, w, bias if with_bias else None).abs()


@pytest.mark.parametrize("with_bias", [False, True])
def test_the_faster_kernel_is_taken(times, with_bias):
    jg.torch.register_inductor()
    for ours, theirs, expected in [(0.9, 1.0, OURS), (1.0, 0.9, THEIRS), (0.99, 1.0, THEIRS)]:
        times.update(ours=ours, theirs=theirs)
        code = code_of(linear(with_bias), X, W, BIAS)
        assert expected[with_bias] in code, (ours, theirs)


def test_max_autotune_takes_the_faster_by_whatever_it_is(times):
    jg.torch.register_inductor()
    times.update(ours=0.99)
    with config.patch(max_autotune_gemm=True, max_autotune_gemm_backends="ATEN"):
        assert OURS[False] in code_of(linear(False), X, W, BIAS)


def test_without_registration_nothing_is_offered(times):
    times.update(ours=0.1)
    assert THEIRS[False] in code_of(linear(False), X, W, BIAS)
    jg.torch.register_inductor()
    jg.torch.register_inductor()
    assert [product.__name__ for product in config.external_matmul] == ["jitgemm_mm"]
    jg.torch.unregister_inductor()
    assert config.external_matmul == []
    assert THEIRS[True] in code_of(linear(True), X, W, BIAS)


def test_other_matmuls_that_a_user_offers_stay():
    def own(a, b, *, out):
        return torch.mm(a, b, out=out)

    with config.patch(external_matmul=[own]):
        jg.torch.register_inductor()
        assert own in config.external_matmul
        jg.torch.unregister_inductor()
        assert config.external_matmul == [own]


def test_scalars_of_addmm_and_operands_as_they_lie(times):
    jg.torch.register_inductor()
    times.update(ours=0.1)
    c = small(6, 4, seed=3)
    for operands in [(c, X, W.t()), (BIAS, X, W.t()), (c, X, W.t().contiguous()), (c, X.t().contiguous().t(), W.t())]:
        code = code_of(lambda c, a, b: torch.addmm(c, a, b, alpha=2, beta=0.5), *operands)
        assert OURS[True] in code


@pytest.mark.parametrize("transposed", [False, True])
def test_batches_are_offered(times, transposed):
    jg.torch.register_inductor()
    a, b, c = small(3, 16, 12), small(3, 12, 20, seed=1), small(3, 16, 20, seed=2)
    b = b.mT.contiguous().mT if transposed else b
    for ours, theirs, expected in [(0.9, 1.0, "jitgemm_"), (1.0, 0.9, "")]:
        times.update(ours=ours, theirs=theirs)
        assert f"extern_kernels.{expected}bmm(" in code_of(lambda a, b: torch.bmm(a, b).abs(), a, b)
        code = code_of(lambda c, a, b: torch.baddbmm(c, a, b, alpha=2, beta=0.5).abs(), c, a, b)
        assert f"extern_kernels.{expected}baddbmm(" in code


def test_one_graph_serves_many_sizes(times):
    jg.torch.register_inductor()
    times.update(ours=0.1)
    torch._dynamo.reset()
    compiled = torch.compile(linear(False), fullgraph=True, dynamic=True)
    for m in (6, 9, 3):
        x = small(m, 5, seed=m)
        torch.testing.assert_close(compiled(x, W, BIAS), linear(False)(x, W, BIAS), rtol=0, atol=0)


def test_what_no_kernel_of_ours_serves_is_not_offered(times):
    jg.torch.register_inductor()
    times.update(ours=0.1)
    wide = small(6, 5).double()
    assert "jitgemm" not in code_of(lambda a, b: a @ b.t(), wide, W.double())


def test_a_product_that_is_refused_later_is_pytorchs():
    a, b, out = X.flip(0).expand(2, 6, 5)[0], W.t(), torch.empty(6, 4)
    every_second = small(12, 10)[::2, ::2]  # neither its rows nor its columns lie together
    for left in (a, every_second):
        ours = inductor._PRODUCTS
        torch.testing.assert_close(ours["mm"](left, b, out=out), left @ b, rtol=0, atol=0)
        torch.testing.assert_close(ours["addmm"](BIAS, left, b, out=out), left @ b + BIAS, rtol=0, atol=0)


def test_an_error_of_ours_ends_no_compile(monkeypatch):
    jg.torch.register_inductor()
    monkeypatch.setattr(inductor._Plain, "__call__", lambda *_, **__: (_ for _ in ()).throw(jg.CompileError("planted")))
    assert THEIRS[False] in code_of(linear(False), X, W, BIAS)


def test_products_of_ours_are_the_same_in_every_process():
    for product in inductor._PRODUCTS.values():
        assert pickle.loads(pickle.dumps(product)) is product and copy.deepcopy(product) is product
        assert repr(product) == f"{product.__name__} {jg.__version__}"


# ---- replaced layers -----------------------------------------------------------------------------


def replaced(**options):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 12), torch.nn.GELU(), torch.nn.Linear(12, 4, bias=False))
    for parameter in model.parameters():
        parameter.data = small(*parameter.shape)
    jg.torch.replace_linear(model, **options)
    return model


def test_replaced_layers_have_pytorchs_kernels_unless_ours_are_faster(times):
    inductor.serve_replaced_layers()
    x = small(2, 3, 8)
    theirs = code_of(replaced(), x)
    assert "extern_kernels.mm(" in theirs and "jitgemm_" not in theirs and "torch.ops.jitgemm" not in theirs
    jg.torch.register_inductor()
    times.update(ours=0.5)
    ours = code_of(replaced(fuse=False), x)
    assert "extern_kernels.mm(" not in ours and "torch.ops.jitgemm" not in ours and "extern_kernels.jitgemm_" in ours
    inductor_mlp._known.clear()
    fused = code_of(replaced(), x)
    assert "torch.ops.jitgemm.mlp_hidden." in fused and "extern_kernels.jitgemm_mm(" in fused


def test_layers_that_ask_for_more_than_pytorch_has_keep_their_operator():
    inductor.serve_replaced_layers()
    code = code_of(replaced(deterministic="batch_invariant", fuse=False), small(3, 8))
    assert code.count("torch.ops.jitgemm.matmul.default(") == 2
    code = code_of(replaced(deterministic="batch_invariant"), small(3, 8))
    assert code.count("torch.ops.jitgemm.mlp_hidden.default(") == 1


def gated():
    model = torch.nn.Sequential(jg.torch.GatedMLP(8, 12), Apart(), torch.nn.Linear(8, 4))
    for seed, parameter in enumerate(model.parameters()):
        parameter.data = small(*parameter.shape, seed=seed) / 8
    jg.torch.replace_linear(model)
    return model


class Apart(torch.nn.Module):
    """A gated MLP of a layer each."""

    def __init__(self):
        super().__init__()
        self.gate, self.up = torch.nn.Linear(8, 12, bias=False), torch.nn.Linear(8, 12, bias=False)
        self.down, self.act = torch.nn.Linear(12, 8, bias=False), torch.nn.GELU("tanh")

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


@pytest.mark.parametrize("make", [replaced, gated])
@pytest.mark.parametrize("ours", [0.5, 2.0])
def test_gradients_of_replaced_layers(times, ours, make):
    inductor.serve_replaced_layers()
    jg.torch.register_inductor()
    times.update(ours=ours)
    model, x = make(), small(3, 8) / 4
    model(x).square().sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    torch._dynamo.reset()
    torch.compile(model, fullgraph=True)(x).square().sum().backward()
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-4)


# ---- layers that stay as they are ----------------------------------------------------------------


def in_place(x, model):
    x = x + 1
    hidden = model.first(x)
    x.add_(1)
    return model.second(torch.relu(hidden)) + x


def two_users(x, model):
    hidden = model.first(x)
    return model.second(torch.relu(hidden)) + hidden.sum()


def without_gradients(x, model):
    with torch.no_grad():
        hidden = model.first(x)
    return model.second(torch.relu(hidden))


class Layers(torch.nn.Module):
    """`call` says what is done with them."""

    def __init__(self, call):
        super().__init__()
        self.call = call
        self.first, self.second = torch.nn.Linear(8, 12), torch.nn.Linear(12, 8)
        self.gate, self.up = torch.nn.Linear(8, 12, bias=False), torch.nn.Linear(8, 12, bias=False)
        for seed, parameter in enumerate(self.parameters()):
            parameter.data = small(*parameter.shape, seed=seed) / 8

    def forward(self, x):
        return self.call(x, self)


FUSED = {  # and the operator's calls forward
    "a residual": (lambda x, m: x + m.second(torch.nn.functional.gelu(m.first(x))), 1),
    "one layer": (lambda x, m: torch.nn.functional.silu(m.first(x)).sum(-1), 1),
    "two layers": (lambda x, m: m.second(m.first(x).relu()).relu(), 1),
    "a gate": (lambda x, m: m.second(torch.nn.functional.silu(m.gate(x)) * m.up(x)), 1),
    "a gate on the right": (lambda x, m: m.second(m.up(x) * torch.nn.functional.silu(m.gate(x))), 1),
    "a gate with a bias": (lambda x, m: m.second(torch.nn.functional.silu(m.first(x)) * m.up(x)), 1),
    "another activation": (lambda x, m: m.second(torch.tanh(m.first(x))), 0),
    "a result that is used twice": (two_users, 0),
    "a change in place between": (in_place, 0),  # PyTorch has no gradient, either
    "another mode between": (without_gradients, 1),  # it is one where no gradient is asked for
}


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("ours", [0.5, 2.0])
def test_layers_of_a_program_are_fused_where_that_is_faster(times, ours, name):
    call, count = FUSED[name]
    jg.torch.register_inductor()
    times.update(ours=ours)
    model, x = Layers(call), small(2, 3, 8) / 4
    code = code_of(model, x)
    assert code.count("torch.ops.jitgemm.mlp_hidden.default(") == (count if ours < 1 else 0)
    if call is in_place:
        return
    expected = model(x)
    expected.square().sum().backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    torch._dynamo.reset()
    d = torch.compile(model, fullgraph=True)(x)
    d.square().sum().backward()
    torch.testing.assert_close(d, expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close([p.grad for p in model.parameters()], gradients, rtol=1e-4, atol=1e-4)


def test_a_fused_graph_serves_many_sizes(times):
    jg.torch.register_inductor()
    times.update(ours=0.5)
    model = Layers(FUSED["a gate"][0])
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    for rows in (5, 3, 17):
        x = small(rows, 8) / 4
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-4)
    torch._dynamo.reset()
    unbacked = torch.compile(lambda x, keep: model(x[keep]), dynamic=True, fullgraph=True)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        torch.testing.assert_close(unbacked(x, x[:, 0] > 0), model(x[x[:, 0] > 0]), rtol=1e-4, atol=1e-4)


def test_a_pass_of_somebody_else_is_kept(times):
    seen = []
    with config.patch(pre_grad_custom_pass=seen.append):
        jg.torch.register_inductor()
        code_of(Layers(FUSED["one layer"][0]), small(3, 8))
        jg.torch.unregister_inductor()
        assert len(seen) == 1
        assert config.pre_grad_custom_pass == seen.append


def test_nothing_is_fused_under_autocast(times):
    jg.torch.register_inductor()
    times.update(ours=0.5)

    def f(x):
        with torch.autocast("cpu", torch.bfloat16):
            return model(x)

    model = Layers(FUSED["one layer"][0])
    d, codes = run_and_get_code(torch.compile(f, fullgraph=True), small(3, 8))
    assert "jitgemm.mlp" not in "".join(codes)
    torch.testing.assert_close(d, f(small(3, 8)), rtol=0.02, atol=0.02)
