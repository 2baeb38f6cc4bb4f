"""replace_linear fuses parts of a model's modules. In every other way they work as before."""

from __future__ import annotations

import copy
import io

import jitgemm as jg
import pytest

pytest.importorskip("numpy")
torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from conftest import small_integers
from torch import nn
from torch.nn import functional

pytestmark = pytest.mark.filterwarnings("ignore")  # torch.jit is deprecated

EMULATOR = "emulator:sm_80"
PLACES = [pytest.param("cpu", id="emulator"), pytest.param("cuda", id="gpu", marks=pytest.mark.gpu)]
CLOSE = {"rtol": 1e-4, "atol": 1e-4}


# ---- modules as those of Hugging Face --------------------------------------------------------------------------------


class LlamaMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj = nn.Linear(8, 16, bias=False), nn.Linear(8, 16, bias=False)
        self.down_proj = nn.Linear(16, 8, bias=False)
        self.act_fn = nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class GELUActivation(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = functional.gelu

    def forward(self, input):
        return self.act(input)


class GELUTanh(nn.Module):
    def forward(self, input):
        return functional.gelu(input, approximate="tanh")


class QuickGELUActivation(nn.Module):
    def forward(self, input):
        return input * torch.sigmoid(1.702 * input)


class CLIPMLP(nn.Module):
    def __init__(self, activation=None):
        super().__init__()
        self.activation_fn = activation or GELUActivation()
        self.fc1, self.fc2 = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, hidden_states):
        hidden_states = self.fc1(hidden_states)
        hidden_states = self.activation_fn(hidden_states)
        return self.fc2(hidden_states)


class GemmaMLP(LlamaMLP):
    def __init__(self):
        super().__init__()
        self.act_fn = GELUTanh()

    def forward(self, x):
        down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return down_proj


class Phi3MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_up_proj, self.down_proj = nn.Linear(8, 32, bias=False), nn.Linear(16, 8, bias=False)
        self.activation_fn = nn.SiLU()

    def forward(self, hidden_states):
        up_states = self.gate_up_proj(hidden_states)
        gate, up_states = up_states.chunk(2, dim=-1)
        up_states = up_states * self.activation_fn(gate)
        return self.down_proj(up_states)


class BertIntermediate(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.intermediate_act_fn = nn.Linear(8, 16), GELUActivation()

    def forward(self, hidden_states):
        return self.intermediate_act_fn(self.dense(hidden_states))


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 8, bias=False)

    def forward(self, x):
        return self.second(functional.silu(self.first(x)))


def sequential():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(16, 8), nn.GELU("tanh"))


# The products of one call of the module, without gradients.
BLOCKS = {
    "Llama": (LlamaMLP, ["d[m,h] = silu(left(acc)) * right(acc)", None]),
    "Gemma": (GemmaMLP, ["d[m,h] = gelu(left(acc)) * right(acc)", None]),
    "Phi-3": (Phi3MLP, ["d[m,h] = silu(left(acc)) * right(acc)", None]),
    "CLIP": (CLIPMLP, ["d = gelu_erf(acc + bias[n])", None]),
    "BERT": (BertIntermediate, ["d = gelu_erf(acc + bias[n])"]),
    "functions": (Functional, ["d = silu(acc + bias[n])", None]),
    "Sequential": (sequential, ["d = relu(acc + bias[n])", "d = gelu(acc + bias[n])"]),
}


def numbers(*shape, seed=0, place="cpu"):
    """No sum is 0, where relu has no derivative."""
    return torch.from_numpy(small_integers(shape, seed=seed) / 4 + 1 / 64).float().to(place)


def made(kind, place="cpu"):
    model = kind().to(place)
    for seed, parameter in enumerate(model.parameters()):
        parameter.data = numbers(*parameter.shape, seed=seed, place=place)
    return model.eval()


def pair(kind, place="cpu", **options):
    """A module, and one that fuses."""
    theirs = made(kind, place)
    ours = copy.deepcopy(theirs)
    report = jg.torch.replace_linear(ours, device=EMULATOR if place == "cpu" else None, **options)
    return theirs, ours, report


def outcome(model, x):
    """A result and all gradients."""
    x = x.clone().requires_grad_()
    d = model(x)
    d.square().sum().backward()
    return d.detach(), x.grad, [parameter.grad for parameter in model.parameters()]


def same(ours, theirs, x):
    for parameter in (*ours.parameters(), *theirs.parameters()):
        parameter.grad = None
    torch.testing.assert_close(outcome(ours, x), outcome(theirs, x), **CLOSE)


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("place", PLACES)
def test_a_block_fuses(name, place):
    kind, _ = BLOCKS[name]
    theirs, ours, report = pair(kind, place)
    assert list(report.fused) == [""] and not report.not_fused
    assert isinstance(ours, type(theirs)) and list(ours.state_dict()) == list(theirs.state_dict())
    for x in (numbers(3, 8, place=place), numbers(2, 3, 8, place=place), numbers(8, place=place)):
        same(ours, theirs, x)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_fused_block_asks_for_fewer_kernels(name, epilogues):
    kind, expected = BLOCKS[name]
    _, ours, _ = pair(kind)
    with torch.no_grad():
        ours.bfloat16()(numbers(3, 8).bfloat16())
    assert len(epilogues) == len(expected)
    assert sorted(map(str, epilogues)) == sorted(map(str, expected))


@pytest.mark.parametrize("name", BLOCKS)
def test_a_compiled_block(name):
    torch.compiler.reset()
    theirs, ours, _ = pair(BLOCKS[name][0])
    same(torch.compile(ours, backend="aot_eager", fullgraph=True), theirs, numbers(3, 8))


@pytest.mark.parametrize("name", BLOCKS)
def test_traces_and_scripts(name):
    theirs, ours, _ = pair(BLOCKS[name][0])
    x = numbers(3, 8)
    with torch.no_grad():
        expected = theirs(x)
        torch.testing.assert_close(torch.jit.trace(ours, x)(x), expected, **CLOSE)
        torch.testing.assert_close(torch.fx.symbolic_trace(ours)(x), expected, **CLOSE)
        torch.testing.assert_close(torch.export.export(ours, (x,)).module()(x), expected, **CLOSE)
        torch.testing.assert_close(torch.vmap(ours)(x), expected, **CLOSE)


def test_a_script_takes_the_module_as_it_was():
    theirs, ours, _ = pair(sequential)
    x = numbers(3, 8)
    with torch.no_grad():
        torch.testing.assert_close(torch.jit.script(ours)(x), theirs(x), **CLOSE)
        torch.testing.assert_close(ours(x), theirs(x), **CLOSE)


# ---- a child that is no longer plain ---------------------------------------------------------------------------------


def test_hooks_of_children_see_their_calls(epilogues):
    theirs, ours, _ = pair(LlamaMLP)
    x, seen = numbers(3, 8), []
    for model in (theirs, ours):
        handle = model.up_proj.register_forward_hook(lambda module, arguments, d: seen.append(d) or d + 1)
        with torch.no_grad():
            seen.append(model(x))
        handle.remove()
    torch.testing.assert_close(seen[:2], seen[2:], **CLOSE)
    assert epilogues == [None] * 3
    with torch.no_grad():
        ours(x)
    assert epilogues[-2] == "d = silu(acc) * up[m,n]"
    with nn.modules.module.register_module_forward_hook(lambda module, arguments, d: seen.append(module)):
        ours(x)
    assert ours.act_fn in seen


def test_hooks_of_the_module_itself_stay():
    _, ours, _ = pair(LlamaMLP)
    seen = []
    ours.register_forward_hook(lambda module, arguments, d: seen.append(d))
    d = ours(numbers(3, 8))
    assert seen == [d]


class Adapter(nn.Module):
    """As LoRA wraps a layer."""

    def __init__(self, base_layer):
        super().__init__()
        self.base_layer, self.more = base_layer, nn.Linear(8, 16, bias=False)
        self.more.weight.data = numbers(16, 8, seed=9)

    @property
    def weight(self):
        return self.base_layer.weight

    def forward(self, x):
        return self.base_layer(x) + self.more(x)


@pytest.mark.parametrize("kind, layer", [(LlamaMLP, "gate_proj"), (CLIPMLP, "fc1")])
def test_a_layer_that_is_wrapped_afterwards_counts(kind, layer):
    theirs, ours, _ = pair(kind)
    for model in (theirs, ours):
        setattr(model, layer, Adapter(getattr(model, layer)))
    same(ours, theirs, numbers(3, 8))


@pytest.mark.parametrize("kind, name", [(LlamaMLP, "act_fn"), (CLIPMLP, "activation_fn")])
@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh, QuickGELUActivation])
def test_an_activation_that_is_exchanged_afterwards_counts(kind, name, activation):
    theirs, ours, _ = pair(kind)
    for model in (theirs, ours):
        setattr(model, name, activation())
    same(ours, theirs, numbers(3, 8))


def test_dropout_between_layers_is_kept_in_training(epilogues):
    _, ours, _ = pair(sequential)
    ours.train()
    torch.manual_seed(0)
    with torch.no_grad():
        assert not torch.equal(ours(numbers(3, 8)), ours(numbers(3, 8)))
    assert epilogues[0] == "d = relu(acc + bias[n])"


def test_a_sequential_may_change_afterwards():
    theirs, ours, _ = pair(sequential)
    for model in (theirs, ours):
        model.append(nn.ReLU())
        model[2] = nn.Tanh()
    same(ours, theirs, numbers(3, 8))
    same(ours[:2], theirs[:2], numbers(3, 8))


# ---- stacked weights -------------------------------------------------------------------------------------------------


def is_stacked(model):
    gate, up = model.gate_proj.weight, model.up_proj.weight
    return gate.untyped_storage().data_ptr() == up.untyped_storage().data_ptr() and (
        gate.untyped_storage().nbytes() == 2 * gate.numel() * gate.element_size()
    )


def test_the_weights_of_gate_and_up_are_views_of_one_tensor():
    model = made(LlamaMLP)
    before = dict(model.named_parameters())
    values = {name: x.detach().clone() for name, x in before.items()}
    jg.torch.replace_linear(model, device=EMULATOR)
    assert is_stacked(model)
    after = dict(model.named_parameters())
    assert list(after) == list(before) and all(after[name] is before[name] for name in before)
    torch.testing.assert_close({name: x.detach() for name, x in after.items()}, values, rtol=0, atol=0)


def test_a_model_is_trained_as_before():
    theirs, ours, _ = pair(LlamaMLP)
    for model in (theirs, ours):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=True)
        for seed in range(3):
            optimizer.zero_grad()
            model(numbers(3, 8, seed=seed)).square().mean().backward()
            optimizer.step()
    assert is_stacked(ours)
    torch.testing.assert_close(dict(ours.named_parameters()), dict(theirs.named_parameters()), rtol=1e-3, atol=1e-3)


def test_an_optimizer_from_before_steps_the_same_parameters():
    theirs = made(LlamaMLP)
    ours = copy.deepcopy(theirs)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (theirs, ours)]
    jg.torch.replace_linear(ours, device=EMULATOR)
    for model, optimizer in zip((theirs, ours), optimizers):
        model(numbers(3, 8)).mean().backward()
        optimizer.step()
    torch.testing.assert_close(dict(ours.named_parameters()), dict(theirs.named_parameters()), **CLOSE)
    assert is_stacked(ours)


def test_states_are_loaded_and_saved():
    theirs, ours, _ = pair(LlamaMLP)
    other = {name: x + 1 for name, x in theirs.state_dict().items()}
    for assign in (False, True):
        for model in (theirs, ours):
            model.load_state_dict(other, assign=assign)
        assert is_stacked(ours) != assign
        same(ours, theirs, numbers(3, 8))
    file = io.BytesIO()
    torch.save(ours.state_dict(), file)
    file.seek(0)
    torch.testing.assert_close(torch.load(file), dict(theirs.state_dict()))
    jg.torch.replace_linear(ours, device=EMULATOR)
    assert is_stacked(ours)


def reloaded(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


MOVES = {
    "deepcopy": copy.deepcopy,
    "a file": reloaded,
    "double and back": lambda model: model.double().float(),
    "half": lambda model: model.half(),
    "meta and back": lambda model: filled(copy.deepcopy(model).to("meta").to_empty(device="cpu"), model),
}


def filled(model, source):
    model.load_state_dict(source.state_dict())
    return model


@pytest.mark.parametrize("name", MOVES)
def test_copies_and_moves_keep_one_tensor(name):
    theirs, ours, _ = pair(LlamaMLP)
    moved = MOVES[name](ours)
    assert is_stacked(moved)
    if name == "half":
        theirs, moved = theirs.half(), moved
        with torch.no_grad():
            x = numbers(3, 8).half()
            torch.testing.assert_close(moved(x), theirs(x), rtol=0.02, atol=0.02)
    else:
        same(moved, theirs, numbers(3, 8))


@pytest.mark.gpu
def test_a_move_to_the_gpu_keeps_one_tensor():
    theirs, ours, _ = pair(LlamaMLP)
    ours.to("cuda")
    jg.torch.replace_linear(ours)
    assert is_stacked(ours)
    same(ours, theirs.to("cuda"), numbers(3, 8, place="cuda"))


class Tied(nn.Module):
    """The second block's gate is the first one's, as `share` says."""

    def __init__(self, share):
        super().__init__()
        self.first, self.second = LlamaMLP(), LlamaMLP()
        share(self.first.gate_proj, self.second)

    def forward(self, x):
        return self.second(self.first(x))


def the_layer(layer, block):
    block.gate_proj = layer


def the_parameter(layer, block):
    block.gate_proj.weight = layer.weight


def the_memory(layer, block):
    block.gate_proj.weight = nn.Parameter(layer.weight.detach())


@pytest.mark.parametrize("share", [the_layer, the_parameter, the_memory])
def test_tied_weights_stay_tied(share):
    theirs = Tied(share)
    ours = Tied(share)
    ours.load_state_dict(theirs.state_dict())
    report = jg.torch.replace_linear(ours, device=EMULATOR)
    assert list(report.fused) == ["first", "second"]
    assert "shares its memory" in report.fused["second"]
    first, second = ours.first.gate_proj.weight, ours.second.gate_proj.weight
    assert first.data_ptr() == second.data_ptr()
    same(ours, theirs, numbers(3, 8))
    with torch.no_grad():
        for model in (ours, theirs):
            model.first.gate_proj.weight.mul_(2)
    same(ours, theirs, numbers(3, 8))


def test_restored_weights_have_memory_of_their_own():
    theirs, ours, report = pair(LlamaMLP)
    parameters = list(ours.parameters())
    assert jg.torch.restore_linear(ours) == report
    assert type(ours) is LlamaMLP and type(ours.gate_proj) is nn.Linear
    assert all(x is y for x, y in zip(parameters, ours.parameters()))
    assert all(x.untyped_storage().nbytes() == x.numel() * 4 for x in ours.parameters())
    same(ours, theirs, numbers(3, 8))


# ---- what is not fused -----------------------------------------------------------------------------------------------


class Residual(CLIPMLP):
    def forward(self, hidden_states):
        return hidden_states + super().forward(hidden_states)


class Trained(CLIPMLP):
    def forward(self, hidden_states):
        if self.training:
            hidden_states = self.fc1(hidden_states)
        return super().forward(hidden_states)


class Branching(CLIPMLP):
    def forward(self, hidden_states):
        return super().forward(hidden_states) if hidden_states.sum() > 0 else hidden_states


class Masked(CLIPMLP):
    def forward(self, hidden_states, mask=None):
        return super().forward(hidden_states if mask is None else hidden_states * mask)


class Biased(LlamaMLP):
    def __init__(self):
        super().__init__()
        self.up_proj = nn.Linear(8, 16)


NOT_FUSED = {
    "a residual": (Residual, "its forward calls add between the layers"),
    "training": (Trained, "its forward differs between training and evaluation"),
    "a branch": (Branching, "its forward can't be traced"),
    "a mask": (Masked, "its forward"),
    "a bias beside a gate": (Biased, "up_proj has a bias"),
    "an unknown activation": (lambda: CLIPMLP(QuickGELUActivation()), "activation_fn is QuickGELUActivation, which no"),
    "an unknown layer": (lambda: nn.Sequential(nn.Linear(8, 8), nn.Tanh()), "1 is Tanh, which no epilogue has"),
}


@pytest.mark.parametrize("name", NOT_FUSED)
def test_what_is_not_fused_is_told_with_the_reason(name):
    kind, reason = NOT_FUSED[name]
    theirs, ours, report = pair(kind)
    assert not report.fused and report.not_fused[""].startswith(reason)
    assert f"not fused in the model: {reason}" in str(report)
    assert type(ours) is type(theirs)
    for model in (ours, theirs):
        model.eval()
    if name != "training":
        same(ours, theirs, numbers(3, 8))


def test_layers_that_are_left_alone_are_not_fused():
    theirs, ours, report = pair(LlamaMLP, only=lambda name, layer: name != "up_proj")
    assert report == ["gate_proj", "down_proj"] and not report.fused
    assert report.not_fused == {"": "up_proj is no linear layer that was replaced"}
    same(ours, theirs, numbers(3, 8))


def test_fusing_is_turned_off(epilogues):
    theirs, ours, _ = pair(LlamaMLP)
    report = jg.torch.replace_linear(ours, device=EMULATOR, fuse=False)
    assert report == ["gate_proj", "up_proj", "down_proj"] and not report.fused and not report.not_fused
    assert type(ours) is LlamaMLP and not is_stacked(ours)
    same(ours, theirs, numbers(3, 8))
    assert set(epilogues) == {None}


def test_a_module_without_an_activation_is_not_named():
    _, _, report = pair(lambda: nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 8)))
    assert str(report) == "['0', '2']"


# ---- a gated MLP -----------------------------------------------------------------------------------------------------


def test_a_gated_mlp_as_a_module(epilogues):
    ours = jg.torch.GatedMLP(8, 16)
    assert list(ours.state_dict()) == ["gate_up.weight", "down.weight"]
    theirs = Phi3MLP()
    theirs.gate_up_proj.weight, theirs.down_proj.weight = ours.gate_up.weight, ours.down.weight
    jg.torch.replace_linear(ours, device=EMULATOR)
    x = numbers(2, 3, 8)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), theirs(x), **CLOSE)
        assert "d = silu(acc) * up[m,n]" in epilogues
        ours.gate_up.register_forward_hook(lambda module, arguments, d: 2 * d)
        theirs.gate_up_proj.register_forward_hook(lambda module, arguments, d: 2 * d)
        torch.testing.assert_close(ours(x), theirs(x), **CLOSE)
    with pytest.raises(jg.SpecError, match="activation is 'tanh'"):
        jg.torch.GatedMLP(8, 16, "tanh")
