"""jitgemm.torch.replace_experts: modules of Hugging Face's form, and small models of its own where it is installed."""

from __future__ import annotations

import copy
import pickle

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from torch import func, nn
from torch.nn import functional

# PyTorch warns of its own functions.
pytestmark = pytest.mark.filterwarnings("ignore")

EMULATOR = "emulator:sm_90a"
PLACES = [pytest.param("cpu", id="emulator"), pytest.param("cuda", id="gpu", marks=pytest.mark.gpu)]
HIDDEN, WIDTH, EXPERTS, TOP_K = 64, 32, 6, 2


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    torch.compiler.reset()


class Experts(nn.Module):
    """Expert by expert."""

    def __init__(self, activation=None):
        super().__init__()
        self.gate_up_proj = nn.Parameter(torch.randn(EXPERTS, 2 * WIDTH, HIDDEN) / 8)
        self.down_proj = nn.Parameter(torch.randn(EXPERTS, HIDDEN, WIDTH) / 6)
        self.act_fn = activation or nn.SiLU()

    def forward(self, hidden_states, top_k_index, top_k_weights):
        result = torch.zeros_like(hidden_states)
        for expert in range(EXPERTS):
            token, choice = torch.where(top_k_index == expert)
            gate, up = functional.linear(hidden_states[token], self.gate_up_proj[expert]).chunk(2, -1)
            d = functional.linear(self.act_fn(gate) * up, self.down_proj[expert])
            d = d * top_k_weights[token, choice, None]
            result = result.index_add(0, token, d.to(result.dtype))
        return result


class Block(nn.Module):
    """A router and its experts."""

    def __init__(self, *arguments):
        super().__init__()
        self.gate, self.experts = nn.Linear(HIDDEN, EXPERTS, bias=False), Experts(*arguments)

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        weights, index = torch.topk(self.gate(rows).softmax(-1, dtype=torch.float32), TOP_K)
        return self.experts(rows, index, weights.to(x.dtype)).reshape(x.shape)


def block(*arguments, place="cpu", dtype=torch.bfloat16, seed=0):
    torch.manual_seed(seed)
    return Block(*arguments).to(place, dtype)


def tokens(*leading, place="cpu", dtype=torch.bfloat16, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*leading, HIDDEN, generator=generator).to(place, dtype)


def device_of(model):
    return EMULATOR if next(model.parameters()).device.type == "cpu" else None


def replaced(model):
    model = copy.deepcopy(model)
    assert jg.torch.replace_experts(model, device=device_of(model))
    return model


def error(d, exact):
    return ((d.double() - exact.double()).norm() / exact.double().norm()).item()


def assert_as_accurate(ours, theirs, exact):
    """Against results in f64: as PyTorch's, whose intermediate values are rounded as well."""
    assert error(ours, exact) <= 1.25 * error(theirs, exact) + 1e-3


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_results_are_as_accurate(place, dtype):
    model, x = block(place=place, dtype=dtype), tokens(3, 7, place=place, dtype=dtype)
    exact = copy.deepcopy(model).double()
    index = torch.stack([torch.randperm(EXPERTS)[:TOP_K] for _ in range(21)]).to(place)
    for weights_type in (dtype, torch.float32):
        weights = torch.rand(21, TOP_K).to(place, weights_type)
        with torch.no_grad():
            d = replaced(model).experts(x.view(21, -1), index, weights)
            reference = exact.experts(x.view(21, -1).double(), index, weights.double())
            assert d.dtype is dtype
            assert_as_accurate(d, model.experts(x.view(21, -1), index, weights), reference)


@pytest.mark.parametrize("place", PLACES)
def test_gradients_are_as_accurate(place):
    model, x = block(place=place), tokens(3, 7, place=place)
    exact = copy.deepcopy(model).double()
    index = torch.stack([torch.randperm(EXPERTS - 1)[:TOP_K] for _ in range(21)]).to(place)  # one expert has none
    shares, of_d = torch.rand(21, TOP_K).to(place, torch.bfloat16), tokens(21, place=place, seed=3)

    def observe(experts, dtype=torch.bfloat16):
        rows, weights = (z.detach().to(dtype).requires_grad_() for z in (x.view(21, -1), shares))
        d = experts(rows, index, weights)
        d.backward(of_d.to(dtype))
        return d, rows.grad, weights.grad, experts.gate_up_proj.grad, experts.down_proj.grad

    ours, theirs = observe(replaced(model).experts), observe(model.experts)
    for d, reference, z in zip(ours, theirs, observe(exact.experts, torch.float64), strict=True):
        assert_as_accurate(d, reference, z)
    assert not ours[3][-1].any() and not ours[4][-1].any()


@pytest.mark.parametrize("activation", [nn.GELU(approximate="tanh"), nn.ReLU(), nn.Tanh(), torch.tanh], ids=str)
def test_other_activations(activation):
    model, x = block(activation), tokens(9)
    exact = copy.deepcopy(model).double()
    index, weights = torch.arange(18).view(9, 2) % EXPERTS, torch.rand(9, 2).bfloat16()
    with torch.no_grad():
        d = replaced(model).experts(x, index, weights)
        reference = exact.experts(x.double(), index, weights.double())
        assert_as_accurate(d, model.experts(x, index, weights), reference)


@pytest.mark.parametrize("index", [[[0, 1]] * 5, [[5, 5]] * 3, [[2, 0]], []], ids=["two", "one", "a token", "none"])
def test_any_experts_may_have_tokens(index):
    model, index = block(), torch.tensor(index, dtype=torch.int64).view(-1, 2)
    x, weights = tokens(len(index)), torch.rand(len(index), 2).bfloat16()
    for grad in (False, True):
        with torch.set_grad_enabled(grad):
            d, reference = (module.experts(x, index, weights) for module in (replaced(model), model))
        torch.testing.assert_close(d, reference, rtol=0.02, atol=0.02)


def test_a_token_has_the_same_bits_whatever_others_choose():
    model, x = replaced(block()), tokens(40)
    with torch.no_grad():
        whole = model(x)
        assert torch.equal(whole, model(x))
        assert torch.equal(whole[7:30], model(x[7:30]))


def test_tokens_may_lie_in_any_way():
    model, x, index = replaced(block()), tokens(9), torch.arange(18).view(9, 2) % EXPERTS
    weights = torch.rand(9, 2).bfloat16()
    apart = torch.stack([x, x], 1).flatten(1)[:, : x.shape[1]]
    by_column, shifted = x.mT.contiguous().mT, torch.cat([x.new_zeros(1), x.flatten()])[1:].view_as(x)
    with torch.no_grad():
        d = model.experts(x, index, weights)
        for other in (apart, by_column, shifted):
            assert torch.equal(other, x) and torch.equal(model.experts(other, index, weights), d)


def test_a_batch_of_steps_learns():
    model, x, target = replaced(block()), tokens(16), tokens(16, seed=5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = (model(x) - target).float().square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.99 * losses[0]


# ---- the module stays ----------------------------------------------------------------------------


def test_parameters_and_class_come_back():
    model = block()
    parameters, kind = dict(model.named_parameters()), type(model.experts)
    report = jg.torch.replace_experts(model, device=EMULATOR)
    assert report == ["experts"] and "experts" in report.fused and not report.not_fused
    assert isinstance(model.experts, kind) and type(model.experts) is not kind
    assert all(parameters[name] is x for name, x in model.named_parameters()) and [*model.state_dict()] == [*parameters]
    assert jg.torch.replace_experts(model, device=EMULATOR) == ["experts"]  # again
    assert jg.torch.restore_experts(model) == ["experts"] and type(model.experts) is kind
    assert not [name for name in vars(model.experts) if name.startswith("jitgemm")]
    assert jg.torch.restore_experts(model) == []


def test_copies_multiply_by_groups():
    model, x = replaced(block()), tokens(9)
    with torch.no_grad():
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert type(other.experts) is type(model.experts) and torch.equal(other(x), model(x))


def test_kernels_take_the_place_of_the_forward(monkeypatch):
    model, x = replaced(block()), tokens(9)
    calls = []
    forward = Experts.forward

    def counted(self, *arguments):
        calls.append(arguments)
        return forward(self, *arguments)

    monkeypatch.setattr(Experts, "forward", counted)
    model(x).sum().backward()
    with torch.no_grad():
        model(x)
        with torch.autocast("cpu", torch.bfloat16):
            model.float()(x.float())
    assert not calls
    model(x.float())  # no kernel serves it
    model.bfloat16()
    func.jvp(lambda x: model(x), (x,), (x,))
    assert len(calls) == 2


def test_hooks_of_the_activation_are_called():
    model, x, seen = replaced(block()), tokens(9), []
    model.experts.act_fn.register_forward_hook(lambda *_: seen.append(1))
    with torch.no_grad():
        model(x)
    assert seen


def test_the_choice_is_the_callers():
    model = nn.ModuleList([block(), block()])
    assert jg.torch.replace_experts(model, device=EMULATOR, only=lambda name, _: name[0] == "1") == ["1.experts"]
    assert jg.torch.restore_experts(model, only=lambda name, _: name[0] == "0") == []


def other_experts(change):
    module = Experts()
    change(module)
    return module


class OtherArguments(Experts):
    def forward(self, hidden_states, weights):
        return hidden_states


class OtherGate(Experts):
    def _apply_gate(self, x):
        return x


@pytest.mark.parametrize(
    "module",
    [
        other_experts(lambda module: setattr(module, "has_bias", True)),
        other_experts(lambda module: setattr(module, "is_transposed", True)),
        other_experts(lambda module: setattr(module, "is_concatenated", False)),
        other_experts(lambda module: setattr(module, "_is_expert_parallel", True)),
        other_experts(lambda module: setattr(module, "forward", None)),
        other_experts(lambda module: setattr(module, "act_fn", None)),
        other_experts(lambda module: setattr(module, "scale", nn.Parameter(torch.ones(1)))),
        other_experts(lambda module: setattr(module, "down_proj", nn.Parameter(torch.ones(EXPERTS, WIDTH, HIDDEN)))),
        other_experts(lambda module: setattr(module, "gate_up_proj", nn.Parameter(torch.ones(EXPERTS, 60, HIDDEN)))),
        OtherArguments(),
        OtherGate(),
    ],
)
def test_other_modules_are_left_alone_and_the_reason_is_said(module):
    model, kind = nn.ModuleDict({"experts": module, "other": nn.Linear(4, 4)}), type(module)
    report = jg.torch.replace_experts(model, device=EMULATOR)
    assert report == [] and [*report.not_fused] == ["experts"]
    assert report.not_fused["experts"] in str(report)
    assert type(module) is kind


@pytest.mark.parametrize("options", [{"device": "gpu"}, {"deterministic": "yes"}, {"only": "experts"}])
def test_refusals(options):
    model = block()
    with pytest.raises((jg.Error, TypeError)):
        jg.torch.replace_experts(model, **options)
    assert type(model.experts) is Experts


# ---- tools ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_a_compiled_block(place):
    model = replaced(block(place=place))
    compiled = torch.compile(model, backend="aot_eager" if place == "cpu" else "inductor", fullgraph=True)
    for count in (9, 5):
        x = tokens(count, place=place)
        given = [x.clone().requires_grad_() for _ in range(2)]
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x), rtol=0.02, atol=0.02)
        for y, f in zip(given, (compiled, model)):
            f(y).sum().backward()
        torch.testing.assert_close(given[0].grad, given[1].grad, rtol=0.05, atol=0.05)


def test_an_exported_block():
    model, rows = replaced(block()), torch.export.Dim("rows", min=2, max=1000)
    with torch.no_grad():
        program = torch.export.export(model, (tokens(9),), dynamic_shapes=({0: rows},)).module()
        assert torch.equal(program(tokens(20)), model(tokens(20)))


@pytest.mark.gpu
def test_a_cuda_graph_takes_other_tokens():
    model, x = replaced(block(place="cuda")), tokens(50, place="cuda")
    with torch.no_grad():
        model(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            d = model(x)
        for seed in (5, 6):
            x.copy_(tokens(50, seed=seed))
            graph.replay()
            assert torch.equal(d, model(x))


# ---- Hugging Face's own --------------------------------------------------------------------------


def hugging_face(kind):
    transformers = pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")
    common = {
        "hidden_size": HIDDEN,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "vocab_size": 40,
        "num_experts_per_tok": 2,
        "intermediate_size": WIDTH,
    }
    torch.manual_seed(0)
    if kind == "mixtral":
        return transformers.MixtralForCausalLM(transformers.MixtralConfig(**common, num_local_experts=4)).bfloat16()
    config = transformers.Qwen3MoeConfig(**common, num_experts=8, moe_intermediate_size=WIDTH)
    return transformers.Qwen3MoeForCausalLM(config).bfloat16()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["mixtral", "qwen3_moe"])
def test_losses_and_gradients_of_a_model(kind, place):
    model = hugging_face(kind).to(place)
    ids = torch.arange(18).view(2, 9).to(place) * 7 % 40
    other = replaced(model)
    assert [*other.state_dict()] == [*model.state_dict()]
    losses = [module(ids, labels=ids).loss for module in (other, model)]
    with torch.no_grad():
        losses.append(other(ids, labels=ids).loss)
    for loss in losses:
        torch.testing.assert_close(loss, losses[1], rtol=2e-3, atol=0)
    for loss in losses[:2]:
        loss.backward()
    for (name, x), y in zip(other.named_parameters(), model.parameters()):
        assert error(x.grad, y.grad) < 0.05, name
