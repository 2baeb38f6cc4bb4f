"""Layers with quantized weights, against products of f64."""

from __future__ import annotations

import copy
import io

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

import jitgemm.torch
from jitgemm._torch_float8 import quantized

# PyTorch warns of its own functions.
pytestmark = pytest.mark.filterwarnings("ignore")

EMULATOR = "emulator:sm_90a"
E4M3 = torch.float8_e4m3fn
ROWS, N = 21, 48


@pytest.fixture(autouse=True)
def nothing_is_compiled():
    torch.compiler.reset()


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def error(d, expected):
    return ((d.double() - expected).norm() / expected.norm()).item()


def make_model(bias=True, dtype=torch.float32):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(200, N, bias), torch.nn.ReLU(), torch.nn.Linear(N, 10, bias)).to(dtype)


def quantize(model, **options):
    return jg.torch.replace_linear(model, weights="fp8", device=EMULATOR, **options)


def reference_of(layer, x):
    """With the input quantized as the documentation says, by loops."""
    x, size = x.double(), 128 if layer.jitgemm_scales == "1x128,128x128" else x.shape[1]
    parts = []
    for part in x.split(size, 1):
        scale = part.abs().amax(1, keepdim=True) / 448
        parts.append((part / scale).float().to(E4M3).double() * scale)
    bias = 0 if layer.bias is None else layer.bias.double()
    return torch.cat(parts, 1) @ layer.dequantized().double().t() + bias


@pytest.mark.parametrize(("rows", "columns"), [(1, 300), (1, 128), (128, 128)])
def test_numbers_are_quantized_by_blocks(rows, columns):
    x = normal(200, 300)
    x[:130, :130] = 0
    x[:, 260:] *= 1e-38  # subnormal, after a division by 448
    values, scale = quantized(x, rows, columns)
    m, k = values.shape
    assert (m % rows, k % columns) == (0, 0) and scale.dtype is torch.float32
    for i in range(0, m, rows):
        for j in range(0, k, columns):
            block, factor = x[i : i + rows, j : j + columns].double(), scale[i // rows, j // columns].double()
            given = values[i : i + rows, j : j + columns].double() * factor
            step = block.abs().max() / 448 * 2**-10 + 2**-126
            assert ((given[: len(block), : block.shape[1]] - block).abs() <= block.abs() * 2**-4 + step).all()


@pytest.mark.gpu
def test_inductor_quantizes_all_blocks():
    layer = torch.nn.Linear(300, 64).cuda()
    jg.torch.replace_linear(layer, weights="fp8")
    compiled = torch.compile(layer, fullgraph=True)
    with torch.no_grad():
        for rows in (24, 21, 40):
            x = normal(rows, 300).cuda()
            assert error(compiled(x), layer(x).double()) < 1e-2


@pytest.mark.parametrize("scales", ["row", "1x128,128x128"])
def test_a_quantized_layer(scales):
    model = make_model()
    weights = [model[i].weight.detach().clone() for i in (0, 2)]
    original = copy.deepcopy(model)
    report = quantize(model, scales=scales)
    assert report == ["0", "2"] and not report.left_alone
    x = normal(3, 7, 200)
    with torch.no_grad():
        for layer, weight, name in zip((model[0], model[2]), weights, report):
            assert layer.weight.dtype is E4M3 and layer.weight_scale.dtype is torch.float32
            # e4m3 has three fraction bits: each weight is off by 2^-4 at most, or by half the smallest step.
            step = layer.weight_scale.max() * 2**-10
            assert ((layer.dequantized() - weight).abs() <= weight.abs() * 2**-4 + step).all()
            assert report.errors[name] == pytest.approx(error(layer.dequantized(), weight.double()))
            assert 0.005 < report.errors[name] < 0.04
        assert f"0: relative error {report.errors['0']:.2%}" in str(report)
        d = model[0](x)
        assert d.dtype is torch.float32 and d.shape == (3, 7, N)
        assert error(d.view(-1, N), reference_of(model[0], x.view(ROWS, 200))) < 1e-3
        assert error(model(x), original(x).double()) < 0.06


def test_types_and_empty_inputs():
    model = make_model(bias=False, dtype=torch.bfloat16)
    quantize(model)
    with torch.no_grad():
        assert model[0](normal(ROWS, 200).bfloat16()).dtype is torch.bfloat16
        assert model[0](normal(0, 200).bfloat16()).shape == (0, N)
        zeros = model[0](torch.zeros(ROWS, 200, dtype=torch.bfloat16))
        assert not zeros.any()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert model[0](normal(ROWS, 200)).dtype is torch.bfloat16
        for x, words in (
            (normal(ROWS, 200).double(), "float64"),
            (normal(ROWS, 200).to(E4M3), "float8"),
            (normal(200, 2), "200 input features"),
        ):
            with pytest.raises(jg.OperandError, match=words):
                model[0](x)


def test_compiled_exported_and_traced_layers():
    model = torch.nn.Sequential(make_model()[0]).eval()
    quantize(model)
    x = normal(ROWS, 200)
    with torch.no_grad():
        expected = model(x)
        assert torch.equal(torch.compile(model, backend="aot_eager", fullgraph=True)(x), expected)
        rows = {0: torch.export.Dim("rows", min=2, max=1000)}
        program = torch.export.export(model, (x,), dynamic_shapes=(rows,))
        assert torch.equal(program.module()(x), expected)
        assert torch.equal(torch.fx.symbolic_trace(model)(x), expected)
        assert torch.equal(torch.jit.trace(model, (x,))(x), expected)
    names = [node.target for node in program.graph.nodes if node.op == "call_function"]
    assert names.count(torch.ops.jitgemm.scaled_matmul.default) == 1


def test_copies_and_moves_keep_the_types():
    model = make_model()
    quantize(model)
    x = normal(ROWS, 200)
    with torch.no_grad():
        expected = model(x)
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
        file.seek(0)
        other = make_model()
        quantize(other)
        other.load_state_dict(torch.load(file))
        for same in (copy.deepcopy(model), other):
            assert torch.equal(same(x), expected)
        bits = model[0].weight.view(torch.uint8).clone()
        model.bfloat16().to(torch.float16).to("cpu")
        assert model[0].weight.dtype is E4M3 and model[0].weight_scale.dtype is torch.float32
        assert model[0].bias.dtype is torch.float16 and torch.equal(model[0].weight.view(torch.uint8), bits)
        assert model(x.half()).dtype is torch.float16
        assert model.to("meta")[0].weight.dtype is E4M3
    with pytest.raises(RuntimeError, match=r"0\.weight is of type torch.float32"):
        other.load_state_dict(make_model().state_dict(), strict=False)


def test_layers_are_for_inference():
    model = make_model()
    quantize(model)
    assert not any(x.requires_grad for x in model.parameters())
    x = normal(ROWS, 200).requires_grad_()
    with pytest.raises(jg.OperandError, match="no gradients"):
        model(x)
    with pytest.raises(jg.SpecError, match="the weight of 0 was quantized"):
        jg.torch.restore_linear(model)
    assert jg.torch.replace_linear(model) == []


def test_layers_that_are_left_alone_are_named():
    tied = torch.nn.Linear(16, 16)
    model = torch.nn.ModuleDict(
        {
            "encoder": torch.nn.TransformerEncoderLayer(16, 2, 16),
            "wide": torch.nn.Linear(16, 16).double(),
            "meta": torch.nn.Linear(16, 16, device="meta"),
            "own": torch.nn.Linear(16, 16),
            "first": tied,
            "second": torch.nn.Linear(16, 16),
            "other": torch.nn.Linear(16, 16),
        }
    )
    model["own"].forward = lambda x: x
    model["second"].weight = tied.weight
    report = quantize(model, only=lambda name, layer: name != "other")
    assert report == ["first", "second"]
    assert model["first"].weight is model["second"].weight
    assert {name: reason.split()[-1] for name, reason in report.left_alone.items()} == {
        "encoder.linear1": "layer",
        "encoder.linear2": "layer",
        "encoder.self_attn.out_proj": "torch.nn.Linear",
        "wide": "torch.float64",
        "meta": "meta",
        "own": "own",
    }
    assert "wide was left alone: its weight is of type torch.float64" in str(report)
    assert quantize(model, only=lambda name, layer: name == "first").left_alone == {
        "first": "its weight is quantized already"
    }


def test_fused_modules_are_taken_apart():
    model = make_model()
    jg.torch.replace_linear(model, device=EMULATOR)
    assert type(model) is not torch.nn.Sequential
    assert quantize(model) == ["0", "2"]
    assert type(model) is torch.nn.Sequential and "jitgemm_math" not in model[0].__dict__


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": "fp4"}, 'weights is .fp4.: it must be "fp8"'),
        ({"scales": "row"}, "scales is 'row' without weights"),
        ({"weights": "fp8", "scales": "tensor"}, "scales is 'tensor': it must be '1x128,128x128' or 'row'"),
        ({"weights": "fp8", "device": "cpu"}, "cpu"),
    ],
)
def test_wrong_words_change_nothing(options, words):
    model = make_model()
    with pytest.raises(jg.SpecError, match=words):
        jg.torch.replace_linear(model, **options)
    assert type(model[0]) is torch.nn.Linear
