"""Types and fields by name: out_dtype of matmul, keywords of kernel."""

from __future__ import annotations

import inspect

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

from conftest import small_integers

EMULATOR = "emulator:sm_80"


def dtypes(type_):
    """All that names a type: words, and dtypes of the libraries that are here."""
    names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
    name = names[type_]
    yield from (type_, name)
    if type_ != "bf16":
        yield from (getattr(np, name), np.dtype(name))
    for module, of in (("ml_dtypes", "bfloat16"), ("torch", name), ("jax.numpy", name)):
        if module == "ml_dtypes" and type_ != "bf16":
            continue
        try:
            found = __import__(module, fromlist=["_"])
        except ImportError:
            continue
        yield getattr(found, of)
        if module != "torch":
            yield np.dtype(getattr(found, of))


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32"])
def test_a_result_of_every_type_by_every_name(type_):
    pytest.importorskip("ml_dtypes")
    a, b = small_integers((6, 5), "float16"), small_integers((5, 4), "float16", seed=1)
    for dtype in dtypes(type_):
        d = jg.matmul(a, b, out_dtype=dtype, device=EMULATOR)
        assert d.dtype.name == {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}[type_]
        np.testing.assert_array_equal(d.astype("float64"), a.astype("float64") @ b)


def test_results_of_two_types_are_told_apart():
    a = small_integers((6, 6), "float16")
    for name in ("float16", "float32", "float16", None):
        assert jg.matmul(a, a, out_dtype=name, device=EMULATOR).dtype == (name or "float16")


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    a = torch.ones(6, 6, dtype=torch.bfloat16)
    d = jg.matmul(a, a, out_dtype=torch.float32, device=EMULATOR)
    assert d.dtype is torch.float32 and d[0, 0] == 6


@pytest.mark.parametrize("wrong", ["float64", float, np.float64, np.dtype(">f4"), "", 5, [4], "f32 layout=tt"])
def test_what_is_no_type_of_a_result_is_refused_with_those_that_are(wrong):
    a = small_integers((6, 6))
    with pytest.raises(jg.SpecError, match=r"out_dtype.*f16, bf16, f32"):
        jg.matmul(a, a, out_dtype=wrong, device=EMULATOR)


def test_out_and_out_dtype_must_agree():
    a, out = small_integers((6, 6)), np.zeros((6, 6), "float32")
    assert jg.matmul(a, a, out=out, out_dtype="float32", device=EMULATOR) is out
    with pytest.raises(jg.OperandError, match="out_dtype is f16"):
        jg.matmul(a, a, out=out, out_dtype="float16", device=EMULATOR)


# ---- fields of jg.kernel ---------------------------------------------------------------------------------------------

SIZES = {"m": 6, "n": 4, "k": 5, "device": EMULATOR}


def test_fields_are_those_of_the_text():
    """But for those of batches and groups."""

    def known(version):
        with pytest.raises(jg.SpecError) as refused:
            jg.kernel(f"gemm-v{version} m=6 n=4 k=5 nonsense=1", device=EMULATOR)
        return set(str(refused.value).partition("known: ")[2].partition(")")[0].replace("-", "_").split(", "))

    named = inspect.signature(jg.kernel).parameters
    of_groups = known(7) - known(5) | {"ragged", "source_rows", "pointers"}
    assert set(named) - {"spec", "device", "kernel", "family", "param", "on_miss"} == known(8) - of_groups


def test_a_flag_is_yes_or_no():
    for written, read in {True: "yes", False: "no", "yes": "yes", "no": "no", None: "no"}.items():
        spec = jg.kernel(**SIZES, a="f32", layout="tt", constant_b=written).spec
        assert ("constant-b=yes" in spec) == (read == "yes")
    assert "broadcast-c=yes" in jg.kernel(**SIZES, a="f32", c="f32", layout="tt", broadcast_c=True).spec


def test_none_is_left_out():
    assert " c=none" in jg.kernel(**SIZES, a="f32", b=None, c=None, lda=None, layout="tt").spec


@pytest.mark.parametrize("type_", ["f16", "f32"])
def test_types_are_taken_by_every_name(type_):
    for dtype in dtypes(type_):
        assert f" a={type_} b={type_} " in jg.kernel(**SIZES, a=dtype, layout="tt").spec


def test_sizes_are_integers_of_any_kind():
    k = jg.kernel(m=np.int64(6), n=np.uint8(4), k=5, a="f32", layout="tt", lda=np.int32(8), device=EMULATOR)
    assert " m=6 n=4 k=5 " in k.spec and " lda=8 " in k.spec


@pytest.mark.parametrize(
    "field, wrong",
    [
        ("k", "5 a=f32 layout=tt"),
        ("k", "5"),
        ("k", 5.0),
        ("m", True),
        ("layout", "tt c=f32"),
        ("layout", ""),
        ("layout", "tt#"),
        ("layout", "tt\n"),
        ("a", "f32 c=f32"),
        ("a", np.float64),
        ("a", 4),
        ("constant_b", 1),
        ("constant_b", "yes k=7"),
        ("d_layout", b"t"),
        ("deterministic", True),
        ("epilogue", "d = acc' m=7"),
        ("epilogue", 4),
    ],
)
def test_a_value_that_is_none_of_its_field_is_refused(field, wrong):
    given = {**SIZES, "a": "f32", "layout": "tt", field: wrong}
    with pytest.raises(jg.SpecError, match=rf"\b{field}\b"):
        jg.kernel(**given)


def test_a_field_that_there_is_not_is_refused_as_python_does():
    with pytest.raises(TypeError, match="'mm'"):
        jg.kernel(mm=6)


# ---- ways out --------------------------------------------------------------------------------------------------------


def test_deterministic_names_its_words():
    a = small_integers((6, 6))
    of_matmul, of_kernel = {"device": EMULATOR}, SIZES
    for call in (lambda w: jg.matmul(a, a, **of_matmul, **w), lambda w: jg.kernel(**of_kernel, **w)):
        with pytest.raises(jg.SpecError, match="batch_invariant"):
            call({"deterministic": True})


def unserved():
    ones = np.ones((4, 4), "float32")
    yield "float64", ones.astype("float64"), "float64"
    yield "int32", ones.astype("int32"), "s32"


def test_what_is_not_served_yet_is_told_before_any_spec():
    for name, array, word in unserved():
        with pytest.raises(jg.Error) as caught:
            jg.matmul(array, array, device=EMULATOR)
        said = str(caught.value)
        assert 0 <= said.find(word) < 100, name
        assert "gemm-v" not in said and "wgmma" not in said, name
        assert "f32" in said or "float32" in said, name


def test_mixed_types_name_no_type_that_is_not_served():
    with pytest.raises(jg.SpecError) as caught:
        jg.matmul(np.ones((4, 4), "float32"), np.ones((4, 4), "float16"), device=EMULATOR)
    assert "f32" in str(caught.value) and "f16" in str(caught.value) and "e4m3" not in str(caught.value)


def test_views_that_no_kernel_reads_name_the_call_that_copies_them():
    a = small_integers((6, 5))
    for view in (a[::-1], a[:, ::-1], np.broadcast_to(a[:1], (6, 5)), np.ones((6, 10), "float32")[:, ::2]):
        with pytest.raises(jg.OperandError, match=r"np.ascontiguousarray\(a\)"):
            jg.matmul(view, a.T, device=EMULATOR)
        np.ascontiguousarray(view)
    torch = pytest.importorskip("torch")
    t = torch.ones(6, 10)
    for view in (t[:, ::2], t[:1, :5].expand(6, 5)):
        with pytest.raises(jg.OperandError, match=r"a.contiguous\(\)"):
            jg.matmul(view, t[:5, :5], device=EMULATOR)
        jg.matmul(view.contiguous(), torch.ones(5, 5), device=EMULATOR)
