"""Promises of torch.mm and torch.nn.functional.linear, each for PyTorch's functions and for ours.

A promise is a function that uses a product in some way and returns what it saw. Both products must show the same.
docs/pytorch.md lists the promises by the names that they have here.
"""

from __future__ import annotations

import copy
import io
import itertools
import os
import pickle
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from torch import func, nn
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.nn.utils import prune
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
from torch.utils.flop_counter import FlopCounterMode
from torch.utils._python_dispatch import TorchDispatchMode

# PyTorch warns of its own functions: torch.jit is deprecated, a profiler of a CPU has no CUDA.
pytestmark = pytest.mark.filterwarnings("ignore")

EMULATOR = "emulator:sm_80"
PLACES = [pytest.param("cpu", id="emulator"), pytest.param("cuda", id="gpu", marks=pytest.mark.gpu)]
PROMISES = {}


def numbers(*shape, place="cpu", seed=0, dtype=torch.float32):
    """Their products' sums are exact in every order."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator, device="cpu").to(place, dtype)


def products_of(place):
    """Ours and PyTorch's."""
    device = EMULATOR if place == "cpu" else None

    def replaced(model):
        assert jg.torch.replace_linear(model, device=device)
        return model

    ours = SimpleNamespace(
        mm=partial(jg.torch.matmul, device=device),
        linear=partial(jg.torch.linear, device=device),
        install=replaced,
        names={"jitgemm::matmul"},
    )
    theirs = SimpleNamespace(
        mm=torch.mm, linear=nn.functional.linear, install=lambda model: model, names={"aten::mm", "aten::addmm"}
    )
    return ours, theirs


def uses(product, place):
    """(function, operands) of each kind of use."""
    x, weight, bias = numbers(2, 3, 5, place=place), numbers(4, 5, place=place, seed=1), numbers(4, place=place, seed=2)
    yield product.mm, (numbers(6, 5, place=place), numbers(5, 4, place=place, seed=1))
    yield product.linear, (x, weight)
    yield product.linear, (x, weight, bias)


def promise_of_each(observe):
    """observe(names, f, *operands), of each kind of use."""

    def whole(product, place):
        return [observe(product.names, f, *(x.clone() for x in operands)) for f, operands in uses(product, place)]

    PROMISES[observe.__name__.replace("_", " ")] = whole
    return observe


class Small(nn.Module):
    def __init__(self, place):
        super().__init__()
        self.first, self.second = nn.Linear(5, 4, device=place), nn.Linear(4, 3, bias=False, device=place)
        for seed, parameter in enumerate(self.parameters()):
            parameter.data = numbers(*parameter.shape, seed=seed, place=place)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def promise_of_models(observe):
    """observe(model, x, install): a model with linear layers, and what puts the product into a model."""

    def whole(product, place):
        return observe(product.install(Small(place)), numbers(2, 3, 5, place=place), product.install)

    PROMISES[observe.__name__.replace("_", " ")] = whole
    return observe


def leaves(operands):
    return [x.detach().clone().requires_grad_() for x in operands]


def gradients_through(f, operands):
    given = leaves(operands)
    f(*given).pow(2).sum().backward()
    return [x.grad for x in given]


def raises(f):
    try:
        f()
    except Exception:
        return True
    return False


# ---- gradients -----------------------------------------------------------------------------------


@promise_of_each
def results_and_gradients(names, f, *operands):
    d = f(*operands)
    return d, d.is_contiguous(), gradients_through(f, operands)


@promise_of_each
def gradients_of_gradients(names, f, *operands):
    given = leaves(operands)
    first = torch.autograd.grad(f(*given).pow(2).sum(), given, create_graph=True)
    return first, torch.autograd.grad(sum(x.pow(2).sum() for x in first), given)


@promise_of_each
def who_requires_a_gradient(names, f, *operands):
    seen = []
    for wanted in itertools.product((False, True), repeat=len(operands)):
        given = [x.clone().requires_grad_(w) for x, w in zip(operands, wanted, strict=True)]
        d = f(*given)
        seen.append((d.requires_grad, d.is_leaf, d.grad_fn is None))
        if d.requires_grad:
            d.sum().backward()
            seen.append([x.grad for x in given])
        with torch.no_grad():
            seen.append(f(*given).requires_grad)
    return seen


@promise_of_each
def inference_mode(names, f, *operands):
    with torch.inference_mode():
        d = f(*leaves(operands))
        of_inference = [x * 2 for x in operands]
    kept = f(*operands[:-1], of_inference[-1])
    refused = raises(lambda: f(operands[0].requires_grad_(), *of_inference[1:]).sum().backward())
    return d, d.is_inference(), d.requires_grad, kept.is_inference(), refused


@promise_of_each
def gradients_add_up_and_hooks_run(names, f, *operands):
    given, seen = leaves(operands), []
    d = f(*given)
    d.register_hook(lambda g: seen.append(g.clone()))
    given[0].register_hook(lambda g: 2 * g)
    d.retain_grad()
    d.sum().backward(retain_graph=True)
    d.sum().backward()
    return seen, d.grad, [x.grad for x in given], raises(lambda: d.sum().backward())


@promise_of_each
def saved_tensors_and_their_hooks(names, f, *operands):
    counts = []
    for wanted in itertools.product((False, True), repeat=len(operands)):
        packed = []

        def pack(x, packed=packed):
            packed.append(x.numel())
            return x.cpu()

        given = [x.clone().requires_grad_(w) for x, w in zip(operands, wanted, strict=True)]
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x.to(operands[0].device)):
            d = f(*given)
        counts.append(sorted(packed))
        if d.requires_grad:
            d.sum().backward()
    return counts, [x.grad for x in given]


@promise_of_each
def a_saved_tensor_that_changed(names, f, *operands):
    def changed(which):
        given = leaves(operands)
        d = f(*given)
        given[which].data.requires_grad_(False)
        with torch.no_grad():
            given[which].mul_(2)
        d.sum().backward()

    return [raises(partial(changed, which)) for which in range(len(operands))]


@promise_of_each
def activation_checkpoints(names, f, *operands):
    seen = [gradients_through(lambda *t, r=r: checkpoint(f, *t, use_reentrant=r), operands) for r in (False, True)]
    saved = []

    def policy(ctx, op, *args, **kwargs):
        if op._schema.name in names:
            saved.append(ctx.is_recompute)
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE

    contexts = partial(create_selective_checkpoint_contexts, policy)
    run = partial(checkpoint, f, use_reentrant=False, context_fn=contexts)
    return seen, gradients_through(run, operands), len(saved) > 0


@promise_of_each
def anomaly_detection(names, f, *operands):
    with torch.autograd.set_detect_anomaly(True):
        return gradients_through(f, operands)


@promise_of_each
def forward_mode(names, f, *operands):
    seen = []
    for wanted in itertools.product((False, True), repeat=len(operands)):
        with forward_ad.dual_level():
            given = [
                forward_ad.make_dual(x, numbers(*x.shape, seed=7).to(x)) if w else x
                for x, w in zip(operands, wanted, strict=True)
            ]
            seen.append(tuple(forward_ad.unpack_dual(f(*given))))
            given[-1] = given[-1] * numbers(1, seed=9).to(given[-1]).requires_grad_()  # both at once
            seen.append(tuple(x if x is None else x.detach() for x in forward_ad.unpack_dual(f(*given))))
    return seen


@promise_of_each
def batched_gradients(names, f, *operands):
    given = leaves(operands)
    d = f(*given)
    batch = numbers(3, *d.shape, seed=5).to(d)
    vectorized = torch.autograd.functional.jacobian(f, tuple(operands), vectorize=True)
    return torch.autograd.grad(d, given, batch, is_grads_batched=True), vectorized


# ---- torch.func ----------------------------------------------------------------------------------


@promise_of_each
def transforms(names, f, *operands):
    every = tuple(range(len(operands)))

    def loss(*given):
        return f(*given).pow(3).sum()

    def directional(*given):
        return func.jvp(loss, given, operands)[1]

    pull = func.vjp(f, *operands)[1]
    return (
        func.grad_and_value(loss, every)(*operands),
        pull(torch.ones_like(f(*operands))),
        func.jvp(f, operands, operands),
        func.jacrev(f, every)(*operands),
        func.jacfwd(f, every)(*operands),
        func.hessian(loss, 0)(*operands),
        func.grad(lambda *t: func.grad(loss)(*t).sum(), 1)(*operands),
        func.grad(directional, every)(*operands),
        func.jvp(func.grad(loss, every), operands, operands),
        func.jvp(lambda *t: func.jvp(f, t, tuple(x.pow(2) for x in t)), operands, operands),
        func.linearize(f, *operands)[1](*operands),
    )


@promise_of_each
def transforms_and_the_graph_around_them(names, f, *operands):
    outer = leaves(operands)
    func.grad(lambda x: f(x, *outer[1:]).pow(2).sum())(outer[0]).pow(2).sum().backward()
    inner = func.grad(lambda x: (f(x, *operands[1:]) + f(*outer)).pow(2).sum())(operands[0])
    with torch.no_grad():
        without = func.grad(lambda x: f(x, *outer[1:]).pow(2).sum())(outer[0])
    return [x.grad for x in outer], inner, inner.requires_grad, without, without.requires_grad


@promise_of_each
def vmap(names, f, *operands):
    seen = []
    for batched in itertools.product((False, True), repeat=len(operands)):
        if not any(batched):
            continue
        for at in (0, -1):
            many = [
                torch.stack([x, x + 1, -x], at) if is_batched else x
                for x, is_batched in zip(operands, batched, strict=True)
            ]
            dimensions = tuple(at if is_batched else None for is_batched in batched)
            seen.append(torch.vmap(f, dimensions)(*many))
    nested = torch.stack([operands[0]] * 6).reshape(2, 3, *operands[0].shape)
    seen.append(torch.vmap(torch.vmap(lambda x: f(x, *operands[1:])), out_dims=1)(nested))
    seen.append(torch.vmap(func.grad(lambda x, w: f(x, w, *operands[2:]).pow(2).sum(), (0, 1)), (0, None))(
        nested[0], operands[1]
    ))
    return seen


@promise_of_each
def functionalization(names, f, *operands):
    return func.functionalize(lambda *t: f(*t).add_(1))(*operands)


@promise_of_models
def functional_calls(model, x, install):
    parameters = dict(model.named_parameters())
    stacked = {name: torch.stack([p, p + 1]) for name, p in parameters.items()}

    def call(parameters, x):
        return func.functional_call(model, parameters, (x,))

    per_sample = torch.vmap(func.grad(lambda p, x: call(p, x).pow(2).sum()), (None, 0))(parameters, x)
    return torch.vmap(call, (0, None))(stacked, x), per_sample


# ---- tensors of other kinds ----------------------------------------------------------------------


def described(d):
    return d.shape, d.stride(), d.dtype, d.device, d.requires_grad


@promise_of_each
def meta_tensors(names, f, *operands):
    given = leaves(x.to("meta") for x in operands)
    d = f(*given)
    d.sum().backward()
    with torch.autocast("cpu", torch.bfloat16):
        cast = f(*given)
    return described(d), described(cast), [described(x.grad) for x in given]


@promise_of_each
def fake_tensors(names, f, *operands):
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode() as mode:
        given = leaves(mode.from_tensor(x) for x in operands)
        d = f(*given)
        d.sum().backward()
    outside = f(*given)  # a fake tensor is one without its mode, too
    return described(d), described(outside), [described(x.grad) for x in given]


@promise_of_each
def negated_views(names, f, *operands):
    return f(torch._neg_view(operands[0]), *operands[1:])


class Marked(torch.Tensor):
    pass


class Asked(torch.Tensor):
    calls = 0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("mm", "matmul", "linear"):
            Asked.calls += 1
            return "answer"
        return super().__torch_function__(function, types, args, kwargs)


class Wrapped(torch.Tensor):
    """Holds another tensor; its own memory is none."""

    calls = []

    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        cls.calls.append(function._schema.name)
        unwrap = partial(torch.utils._pytree.tree_map_only, Wrapped, lambda x: x.held)
        return torch.utils._pytree.tree_map_only(torch.Tensor, Wrapped, function(*unwrap(args), **unwrap(kwargs or {})))


@promise_of_each
def subclasses(names, f, *operands):
    marked = [f(operands[0], operands[1].as_subclass(Marked), *operands[2:]), f(*leaves(operands)[:2])]
    Asked.calls, Wrapped.calls = 0, []
    answer = f(operands[0].as_subclass(Asked), *operands[1:])
    wrapped = f(*(Wrapped(x) for x in operands))
    products = [name in names for name in Wrapped.calls].count(True)
    parameter = nn.Parameter(operands[1].as_subclass(Marked))
    with_parameter = f(operands[0], parameter, *operands[2:])
    with_parameter.sum().backward()
    return (
        type(marked[0]) is Marked,
        answer == "answer",
        Asked.calls,
        type(wrapped) is Wrapped,
        products,
        wrapped.held,
        parameter.grad.as_subclass(torch.Tensor),
        type(with_parameter) is type(parameter),
    )


# ---- modes and records ---------------------------------------------------------------------------


class Functions(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.products = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.products += getattr(function, "__name__", "") in ("mm", "matmul", "linear")
        return function(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __init__(self, names):
        super().__init__()
        self.names, self.products = names, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.products += function._schema.name in self.names
        return function(*args, **(kwargs or {}))


@promise_of_each
def modes(names, f, *operands):
    with Functions() as functions:
        f(*operands)
    with Dispatched(names) as forward:
        f(*operands)
    with Dispatched(names) as both:
        gradients = gradients_through(f, operands)
    with torch.device("meta"), Functions() as inner:  # the mode of a default device
        d = f(*operands)
    return functions.products, forward.products, both.products, gradients, inner.products, d


@promise_of_each
def flop_counts(names, f, *operands):
    with FlopCounterMode(display=False) as forward:
        f(*operands)
    with FlopCounterMode(display=False) as both:
        gradients_through(f, operands)
    return forward.get_total_flops(), both.get_total_flops()


@promise_of_each
def names_in_a_profile(names, f, *operands):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        gradients_through(f, operands)
    return sum(event.count for event in profile.key_averages() if event.key in names)


@promise_of_each
def autocast(names, f, *operands):
    kind = operands[0].device.type
    half = [operands[0].bfloat16(), *operands[1:]]
    seen = []
    with torch.autocast(kind, torch.bfloat16):
        seen += [f(*operands), f(*half)]
        seen.append(gradients_through(f, operands))
        with torch.autocast(kind, enabled=False):
            seen += [f(*operands), raises(lambda: f(*half))]
        with torch.autocast(kind, torch.float16):
            seen.append(f(*operands))
    seen += [f(*operands), raises(lambda: f(*half))]
    traced = torch.jit.trace(lambda *t: f(*t), tuple(operands))
    with torch.autocast(kind, torch.bfloat16):
        seen.append(make_fx(f)(*operands)(*operands))
        torch._dynamo.reset()  # it counts how often this line was compiled
        seen.append(torch.compile(lambda *t: f(*t), backend="aot_eager", fullgraph=True)(*operands))
    return seen, traced(*operands)


@promise_of_each
def deterministic_algorithms(names, f, *operands):
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # PyTorch's products on a GPU ask for it
    torch.use_deterministic_algorithms(True)
    try:
        return torch.equal(f(*operands), f(*operands)), gradients_through(f, operands)
    finally:
        torch.use_deterministic_algorithms(False)


# ---- programs that are traced --------------------------------------------------------------------


def others(operands):
    """Other numbers, and more rows in the first one."""
    return [torch.cat([operands[0]] * 2) + 1, *(x - 1 for x in operands[1:])]


@promise_of_each
def make_fx_traces(names, f, *operands):
    seen = []
    for mode in ("real", "fake", "symbolic"):
        graph = make_fx(lambda *t: f(*t) + 1, tracing_mode=mode)(*operands)
        seen.append(graph(*(x - 1 for x in operands)))
        if mode == "symbolic":
            seen.append(graph(*others(operands)))
    seen.append(make_fx(func.grad(lambda *t: f(*t).pow(2).sum()))(*operands)(*(x - 1 for x in operands)))
    return seen


@promise_of_each
def jit_traces(names, f, *operands):
    traced = torch.jit.trace(lambda *t: f(*t) + 1, tuple(leaves(operands)))
    file = io.BytesIO()
    torch.jit.save(traced, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    return traced(*others(operands)), loaded(*others(operands)), gradients_through(loaded, operands)


class Call(nn.Module):
    """A function and all operands but the first."""

    def __init__(self, f, *operands):
        super().__init__()
        self.f = f
        self.weight = operands[0]
        self.bias = operands[1:]

    def forward(self, x):
        return self.f(x, self.weight, *self.bias) + 1


@promise_of_each
def fx_traces(names, f, *operands):
    graph = torch.fx.symbolic_trace(Call(f, *operands[1:]))
    again = pickle.loads(pickle.dumps(torch.fx.symbolic_trace(graph)))
    return [g(others(operands)[0]).detach() for g in (graph, again)]


@promise_of_each
def exported_programs(names, f, *operands):
    batch = torch.export.Dim("batch", min=2, max=64)
    seen = []
    for strict in (True, False):
        program = torch.export.export(
            Call(f, *operands[1:]), (operands[0],), dynamic_shapes=({0: batch},), strict=strict
        )
        file = io.BytesIO()
        torch.export.save(program.run_decompositions(), file)
        file.seek(0)
        more = others(operands)[0]
        seen += [program.module()(more).detach(), torch.export.load(file).module()(more).detach()]
    return seen


@promise_of_each
def compiled_programs(names, f, *operands):
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return torch._dynamo.backends.debugging.aot_eager(graph, inputs)

    torch._dynamo.reset()
    compiled = torch.compile(lambda *t: f(*t) + 1, backend=backend, fullgraph=True, dynamic=True)
    seen = [compiled(*operands), compiled(*others(operands))]
    count = len(graphs)
    seen += gradients_through(compiled, operands)
    of_transform = torch.compile(func.grad(lambda *t: f(*t).pow(2).sum()), backend="aot_eager", fullgraph=True)
    return seen, count, of_transform(*operands)


# ---- models --------------------------------------------------------------------------------------


@promise_of_models
def copies_of_models(model, x, install):
    model.first.register_forward_hook(lambda module, inputs, output: output + 1)
    expected = model(x).detach()
    file = io.BytesIO()
    plain = copy.deepcopy(model)
    plain.first._forward_hooks.clear()
    torch.save(plain, file)
    file.seek(0)
    loaded = install(Small("cpu"))
    loaded.load_state_dict(model.state_dict())
    return (
        expected,
        copy.deepcopy(model)(x).detach(),
        torch.load(file, weights_only=False)(x).detach(),
        pickle.loads(pickle.dumps(plain))(x).detach(),
        loaded.to(x.device)(x).detach(),
        list(model.state_dict()),
        len(list(model.parameters())),
    )


@promise_of_models
def traced_models(model, x, install):
    more = torch.cat([x, x + 1])
    traced = torch.jit.freeze(torch.jit.trace(model, x).eval())
    scripted = torch.jit.script(model)
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    file.seek(0)
    programs = [traced, scripted, torch.jit.load(file), torch.fx.symbolic_trace(model)]
    programs.append(torch.compile(model, backend="aot_eager"))
    programs.append(torch.export.export(model, (x,)).module())
    seen = [program(more if i < 4 else x).detach() for i, program in enumerate(programs)]
    scripted(x).sum().backward()
    return seen, [p.grad for p in model.parameters()]


@promise_of_models
def parametrized_models(model, x, install):
    nn.utils.parametrizations.weight_norm(model.first)
    seen = [model(x).detach()]
    model(x).sum().backward()
    seen += [p.grad for p in model.parameters()]
    nn.utils.parametrize.remove_parametrizations(model.first, "weight")
    prune.l1_unstructured(model.second, "weight", amount=2)
    return seen, model(x).detach()


class Lora(nn.Module):
    """Wraps a layer, as adapters do."""

    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down, self.up = nn.Linear(5, 2, bias=False), nn.Linear(2, 4, bias=False)
        for seed, layer in enumerate((self.down, self.up)):
            layer.weight.data = numbers(*layer.weight.shape, seed=seed).to(base.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


@promise_of_models
def adapters(model, x, install):
    model.first = Lora(model.first)
    install(model)
    model(x).pow(2).sum().backward()
    return model(x).detach(), [p.grad for p in model.parameters()]


@promise_of_models
def models_on_meta(model, x, install):
    with torch.device("meta"):
        empty = install(Small("meta"))
    described_ = described(empty(x.to("meta")))
    filled = empty.to_empty(device=x.device)
    filled.load_state_dict(model.state_dict())
    return described_, filled(x).detach()


@promise_of_models
def distributed_data_parallel(model, x, install):
    store = torch.distributed.HashStore()
    backend = "gloo" if x.device.type == "cpu" else "nccl"
    torch.distributed.init_process_group(backend, store=store, rank=0, world_size=1)
    try:
        parallel = nn.parallel.DistributedDataParallel(model)
        parallel(x).pow(2).sum().backward()
        return [p.grad for p in model.parameters()]
    finally:
        torch.distributed.destroy_process_group()


# ---- shapes and errors ---------------------------------------------------------------------------


@promise_of_each
def out_of_place(names, f, *operands):
    versions = [x._version for x in operands]
    d = f(*operands)
    return [x._version - version for x, version in zip(operands, versions, strict=True)], d._version


@promise_of_each
def errors(names, f, *operands):
    x, weight, *bias = operands
    bad = [
        (x[..., :-1], weight, *bias),
        (x.bfloat16(), weight, *bias),
        (x, weight.bfloat16(), *bias),
        (x[0, 0, ..., 0] if x.dim() == 3 else x[0, 0], weight, *bias),
        (x, weight[0, 0], *bias),
        (x, weight.cpu().numpy(), *bias),
        (x,),
    ]
    if x.dim() == 3:
        bad.append((x, weight[None, None], *bias))
    if bias:
        bad += [(x, weight, bias[0].double()), (x, weight, bias[0].bfloat16()), (x, weight, bias[0][1:])]
        bad.append((x, weight, bias[0].expand(7, 2, 3, 4)))
    return [raises(partial(f, *operands)) for operands in bad]


def rows_of_linear(product, place):
    """x as it may lie, a weight of one dimension."""
    make = partial(numbers, place=place)
    weight, bias = make(4, 5, seed=1), make(4, seed=2)
    rows = [
        make(5),
        make(1, 5),
        make(0, 5),
        make(0, 3, 5),
        make(1, 1, 2, 3, 5),
        make(7, 3, 5).transpose(0, 1),
        make(3, 5, 7).mT,
        make(1, 7, 5).expand(3, 7, 5),
        make(6, 10)[:, ::2],
        make(3, 9, 5)[:, 1:8],
    ]
    seen = []
    for x in rows:
        given = leaves([x, weight, bias])
        given[0] = x.detach().requires_grad_() if x.is_contiguous() else x
        d = product.linear(*given)
        d.sum().backward()
        seen.append((d.detach(), d.is_contiguous(), given[1].grad, given[2].grad))
        seen.append(product.linear(x, weight[0]))
    seen.append(product.linear(make(2, 0), make(4, 0), bias))
    seen.append(product.linear(make(2, 3, 5), make(8, 10, seed=1)[::2, ::2], make(8, seed=2)[::2]))
    seen.append(product.linear(make(5), weight[0], bias[0]))
    seen.append(gradients_through(product.linear, [make(2, 3, 5), weight[0]]))
    return seen


def matrices_of_mm(product, place):
    make = partial(numbers, place=place)
    pairs = [
        (make(6, 5), make(4, 5).T),
        (make(5, 6).T, make(5, 4)),
        (make(6, 10)[:, 3:8], make(9, 4)[4:]),
        (make(0, 5), make(5, 4)),
        (make(6, 0), make(0, 4)),
        (make(6, 5), make(5, 0)),
    ]
    return [(product.mm(*pair), gradients_through(product.mm, pair)) for pair in pairs]


PROMISES["rows of linear"] = rows_of_linear
PROMISES["matrices of mm"] = matrices_of_mm


# ---- the tests -----------------------------------------------------------------------------------


def assert_same(seen, expected):
    assert type(seen) is type(expected), (seen, expected)
    if isinstance(seen, torch.Tensor):
        torch.testing.assert_close(seen, expected)
    elif isinstance(seen, dict):
        assert list(seen) == list(expected)
        for key in seen:
            assert_same(seen[key], expected[key])
    elif isinstance(seen, (list, tuple)) and not isinstance(seen, torch.Size):
        assert len(seen) == len(expected)
        for one, other in zip(seen, expected, strict=True):
            assert_same(one, other)
    else:
        assert seen == expected


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", PROMISES)
def test_promise(name, place):
    ours, theirs = products_of(place)
    expected = PROMISES[name](theirs, place)
    assert_same(PROMISES[name](ours, place), expected)


def test_the_page_lists_each_promise():
    page = (Path(__file__).parents[2] / "docs" / "pytorch.md").read_text()
    listed = re.findall(r"^\| ([^|]+?) \|", page.split("## Promises")[1].split("\n## ")[0], re.MULTILINE)
    assert sorted(listed[1:]) == sorted(PROMISES)
