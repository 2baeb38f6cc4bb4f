"""Arguments that jitgemm.matmul refuses: the exception names them, and nothing was written."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

from conftest import has_gpu, small_integers

EMULATOR = "emulator:sm_80"
A, B = small_integers((6, 5)), small_integers((5, 4), seed=1)


def overlapping():
    whole = np.zeros((6, 9), "float32")
    return {"a": whole[:, :5], "out": whole[:, 4:8]}


def other_byte_order():
    return A.astype(">f4")


REFUSED = {
    "no array": ({"a": [[1.0]]}, jg.OperandError, "a is of type list"),
    "none": ({"b": None}, jg.OperandError, "b is of type NoneType"),
    "a scalar": ({"a": np.float32(1)}, jg.OperandError, "a is 0-D"),
    "too many dimensions": ({"a": np.ones((1,) * 9, "float32")}, jg.OperandError, "a has 9 dimensions; at most 8"),
    "other sizes": ({"b": A}, jg.OperandError, "A's columns.* 5.* B's rows.* 6"),
    "leading sizes": (
        {"a": np.ones((2, 6, 5), "float32"), "b": np.ones((3, 5, 4), "float32")},
        jg.OperandError,
        "their leading dimensions don't go together",
    ),
    "float64": ({"a": A.astype("float64")}, jg.OperandError, "a .*float64.*float16"),
    "complex": ({"b": B.astype("complex64")}, jg.OperandError, "b is of type complex64"),
    "bool": ({"b": B.astype("bool")}, jg.OperandError, "b is of type bool"),
    "another byte order": ({"a": other_byte_order()}, jg.OperandError, "bytes are in another order"),
    "two types": ({"b": B.astype("float16")}, jg.SpecError, "a is f32 and b is f16"),
    "rows backwards": ({"a": A[::-1]}, jg.OperandError, r"strides \(-5, 1\) in elements"),
    "out of another byte order": ({"out": np.zeros((6, 4), ">f4")}, jg.OperandError, "out .*>f4.*bytes"),
    "a mask": (
        {"a": np.ma.masked_array(A, mask=A > 0)}, jg.OperandError, "a .*mask",
    ),
    "a mask of nothing": ({"b": np.ma.masked_array(B)}, jg.OperandError, "b is masked"),
    "a masked out": ({"out": np.ma.zeros((6, 4), "float32")}, jg.OperandError, "out is masked"),
    "no bytes an element": (
        {"a": np.zeros((6, 5), "V0")},
        jg.OperandError,
        r"a is of type \|V0: kernels take",
    ),
    "columns apart": ({"a": np.ones((6, 10), "float32")[:, ::2]}, jg.OperandError, "neither its rows nor its columns"),
    "expanded rows": ({"a": np.broadcast_to(A[:1], (6, 5))}, jg.OperandError, r"strides \(0, 1\)"),
    "apart by parts of elements": (
        {"a": np.zeros((6, 5), [("x", "f4"), ("y", "i1")])["x"]},
        jg.OperandError,
        r"strides of \(25, 5\) bytes.*element size, 4",
    ),
    "out of another shape": ({"out": np.zeros((4, 6), "float32")}, jg.OperandError, r"the product has \(6, 4\)"),
    "out of an unserved type": ({"out": np.zeros((6, 4), "int32")}, jg.SpecError, "d is s32"),
    "read-only out": ({"out": np.broadcast_to(np.float32(0), (6, 4))}, jg.OperandError, "out is read-only"),
    "out over a": (overlapping(), jg.SpecError, r"D \[0x\w+, 0x\w+\) overlaps A"),
    "c of another shape": ({"c": np.zeros(5, "float32")}, jg.OperandError, r"c has shape \(5,\)"),
    "beta without c": ({"beta": 1}, jg.SpecError, "beta is 1.* no C"),
    "accumulate without out": ({"accumulate": True}, jg.OperandError, "accumulate .*out is missing"),
    "accumulate with c": (
        {"accumulate": True, "out": np.zeros((6, 4), "float32"), "c": np.zeros((6, 4), "float32")},
        jg.OperandError,
        "accumulate .*c is given",
    ),
    "a C of another batch": (
        {
            "a": np.ones((2, 6, 5), "float32"),
            "b": np.ones((2, 5, 4), "float32"),
            "c": np.ones((3, 6, 4), "float32"),
        },
        jg.OperandError,
        r"c has shape \(3, 6, 4\)",
    ),
    "no device": ({"device": None}, jg.OperandError, "host memory.* device="),
    "no such device": ({"device": "emul"}, jg.SpecError, "unknown device 'emul'"),
    "no such architecture": ({"device": "emulator:sm_12"}, jg.Error, "sm_12"),
    "alpha beyond f32": ({"alpha": -1e39}, jg.SpecError, "alpha is -1e\\+39: .*f32"),
    "an alpha that no double holds": ({"alpha": 10**400}, jg.SpecError, "alpha is .*f32"),
    "a beta that no double holds": (
        {"beta": -(10**400), "c": np.zeros((6, 4), "float32")},
        jg.SpecError,
        "beta is .*f32",
    ),
    "alpha is a text": ({"alpha": "2"}, TypeError, "alpha is of type str.* number"),
    "beta is an array": ({"beta": A}, TypeError, "beta"),
    "an unknown keyword": ({"oot": 1}, TypeError, "unexpected keyword argument 'oot'"),
}


def test_a_result_of_a_type_that_numpy_lacks_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(jg.OperandError, match="bf16.*ml_dtypes"):
        jg.matmul(A, B, out_dtype="bfloat16", device=EMULATOR)


@pytest.mark.parametrize("arguments, error, words", REFUSED.values(), ids=REFUSED)
def test_refused_with_what_is_wrong(arguments, error, words):
    given = {"a": A, "b": B, "device": EMULATOR, **arguments}
    out = given.get("out")
    before = None if out is None else out.copy()
    with pytest.raises(error, match=words) as caught:
        jg.matmul(given.pop("a"), given.pop("b"), **given)
    if before is not None:
        np.testing.assert_array_equal(out, before)
    if isinstance(caught.value, jg.Error):
        assert caught.value.reasons and all(isinstance(reason, str) for reason in caught.value.reasons)


EMPTY = {
    "no rows": (np.zeros((0, 5), "f4"), B),
    "no columns": (A, np.zeros((5, 0), "f4")),
    "no batch": (np.zeros((0, 6, 5), "f4"), B),
    "no rows in a batch": (np.zeros((2, 0, 5), "f4"), B),
    "no columns in a batch": (np.zeros((2, 6, 5), "f4"), np.zeros((5, 0), "f4")),
    "no batch of both": (np.zeros((0, 6, 5), "f4"), np.zeros((0, 5, 4), "f4")),
}


def like(x, type_):
    return np.zeros(x.shape, type_)


@pytest.mark.parametrize("a, b", EMPTY.values(), ids=EMPTY)
def test_products_without_an_element_keep_every_rule_of_types_shapes_and_out(a, b):
    d = jg.matmul(a, b, device=EMULATOR)
    assert d.shape == (a @ b).shape and d.dtype == a.dtype
    read_only = like(d, "f4")
    read_only.flags.writeable = False
    for refused in (
        {"a": like(a, "f2")},
        {"a": like(a, "i2"), "b": like(b, "i2")},
        {"a": like(a, "f8")},
        {"out": like(d, "i4")},
        {"out": like(d, "f8")},
        {"out": np.zeros((*d.shape, 1), "f4")},
        {"out": read_only},
        {"c": like(d, "i1")},
        {"c": np.zeros((*d.shape, 1), "f4")},
        {"c": like(d, "i1"), "beta": 0},
        {"accumulate": True},
        {"device": None},
    ):
        given = {"a": a, "b": b, "device": EMULATOR, **refused}
        with pytest.raises(jg.Error):
            jg.matmul(given.pop("a"), given.pop("b"), **given)
    out, c = like(d, "f4"), np.ones((1,), "f4")
    assert jg.matmul(a, b, out=out, c=c, device=EMULATOR) is out


OTHER_EIGHT_BITS = [
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]


@pytest.mark.parametrize("word", OTHER_EIGHT_BITS)
def test_formats_of_8_bits_that_are_neither_e4m3fn_nor_e5m2_are_of_no_type(word):
    dtype = getattr(pytest.importorskip("ml_dtypes"), word, None)
    if dtype is None:
        pytest.skip("this ml_dtypes has none")
    with pytest.raises(jg.OperandError, match=f"a .*{word}.* take"):
        jg.matmul(np.zeros((6, 5), dtype), np.zeros((5, 4), dtype), device=EMULATOR)


WITH_NUL = {
    "deterministic": lambda: jg.matmul(A, B, device=EMULATOR, deterministic="run_to_run\0x"),
    "on_miss": lambda: jg.matmul(A, B, device=EMULATOR, on_miss="serve\0x"),
    "dependent_launch": lambda: jg.matmul(A, B, device=EMULATOR, dependent_launch="auto\0x"),
    "device": lambda: jg.matmul(A, B, device="emulator\0x"),
    "a kernel's device": lambda: jg.kernel("f32 tt 6 4 5", device="emulator\0x"),
    "a spec": lambda: jg.kernel("f32 tt 6 4 5\0x", device=EMULATOR),
    "a kernel's name": lambda: jg.kernel("f32 tt 6 4 5", device=EMULATOR, kernel="simt\0x"),
    "a family": lambda: jg.kernel("f32 tt 6 4 5", device=EMULATOR, family="simt_naive\0x"),
    "parameters": lambda: jg.kernel("f32 tt 6 4 5", device=EMULATOR, param="\0"),
    "a layout": lambda: jg.layout("8:1\0x"),
}


@pytest.mark.parametrize("call", WITH_NUL.values(), ids=WITH_NUL)
def test_no_text_is_cut_at_a_nul(call):
    with pytest.raises(ValueError, match=r"NUL"):
        call()


def test_a_keyword_with_a_nul_is_told_in_full():
    with pytest.raises(TypeError, match=r"'out\\0x'"):
        jg.matmul(A, B, **{"out\0x": 1})


NO_TEXT = {
    "spec": lambda: jg.Kernel(5),
    "device": lambda: jg.Kernel("f32 tt 6 4 5", device=5),
    "kernel": lambda: jg.Kernel("f32 tt 6 4 5", device=EMULATOR, kernel=5),
    "family": lambda: jg.Kernel("f32 tt 6 4 5", device=EMULATOR, family=5),
    "param": lambda: jg.Kernel("f32 tt 6 4 5", device=EMULATOR, param=5),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_a_type_error_names_the_argument(name):
    with pytest.raises(TypeError, match=f"{name} is 5.* str"):
        NO_TEXT[name]()


def test_exceptions_have_the_names_by_which_programs_find_them():
    for name in jg.__all__:
        value = getattr(jg, name, None)
        if isinstance(value, type) and issubclass(value, Exception):
            assert (value.__module__, value.__qualname__) == ("jitgemm", name)
    error = jg.CompileError("no", ["one", "two"], log="words")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is jg.CompileError and (again.reasons, again.log) == (error.reasons, error.log)


def test_errors_of_a_package_that_was_imported_anew_are_of_its_classes():
    source = """
import sys
import numpy as np

a = np.ones((6, 5), "f4")
for _ in range(3):
    for name in [name for name in sys.modules if name.partition(".")[0] == "jitgemm"]:
        del sys.modules[name]
    import jitgemm as jg
    for x, y in ((a, a[::-1].T), ([1], a), (a, a)):
        try:
            jg.matmul(x, y, device="emulator")
        except jg.OperandError:
            print("caught")
    print((jg.matmul(a, a.T, device="emulator") == 5).all())
"""
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout.split()) == (0, ["caught", "caught", "caught", "True"] * 3), ended.stderr


# ---- interfaces that break their own rules ---------------------------------------------------------------------------


class Interface:
    """An array of no library, with the host's interface or CUDA's; what is None is left out."""

    def __init__(self, name="__array_interface__", **changed):
        fields = {**A.__array_interface__, "strides": (20, 4), **changed}
        setattr(self, name, {key: value for key, value in fields.items() if value is not None})


class InterfaceWithDtype(Interface):
    def __init__(self, dtype, **changed):
        super().__init__(**changed)
        self.dtype = np.dtype(dtype)


class Exporter:
    """Speaks DLPack; `answer` is an exception to raise, a function to ask, or what __dlpack__ answers."""

    def __init__(self, answer, device=(1, 0)):
        self.answer, self.device = answer, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **how):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(**how) if callable(self.answer) else self.answer


def consumed(**how):
    capsule = A.__dlpack__(**how)
    np.from_dlpack(Exporter(capsule))
    return capsule


CUDA = {"name": "__cuda_array_interface__"}
BROKEN = {
    "no shape": (lambda: Interface(shape=None), "a has an array interface without 'shape'"),
    "no type": (lambda: Interface(typestr=None), "a has an array interface without 'typestr'"),
    "no data": (lambda: Interface(data=None), "a has an array interface without 'data'"),
    "data of one field": (
        lambda: Interface(data=5),
        "a of type .*Interface can't be handed over by its library: TypeError",
    ),
    "a shape of texts": (lambda: Interface(shape=("6", 5)), "a of type .*Interface can't be handed over"),
    "a negative shape": (lambda: Interface(shape=(-6, 5)), r"a .*\(-6, 5\).* negative"),
    "a shape beyond 64 bits": (
        lambda: Interface(shape=(2**70, 5)),
        "1180591620717411303424.* 64",
    ),
    "a negative address": (lambda: Interface(data=(-8, False)), "address of -8"),
    "no address": (lambda: Interface(data=(0, False)), "a of type .*Interface has no memory of its own"),
    "a stride too few": (lambda: Interface(strides=(20,)), "a has 2 dimensions and 1 strides"),
    "strides within elements": (
        lambda: Interface(strides=(21, 4)), r"strides .*\(21, 4\).* multiple",
    ),
    "another byte order": (lambda: Interface(typestr=">f4"), "a .*>f4.*order"),
    "a type of no size": (lambda: Interface(typestr="<f0"), "typestr is '<f0': expected one like '<f4'"),
    "a type that is no text": (lambda: Interface(typestr=4), "typestr is 4"),
    "a masked interface": (lambda: Interface(mask=A), "a is masked"),
    "a smaller dtype": (lambda: InterfaceWithDtype("f2"), "a has the dtype float16 .*typestr is '<f4'"),
    "a larger dtype": (lambda: InterfaceWithDtype("f4", typestr="<f2"), "a has the dtype float32 .*typestr is '<f2'"),
    "a dtype and no type": (
        lambda: InterfaceWithDtype("f4", typestr=None),
        "a has an array interface without 'typestr'",
    ),
    "CUDA, no type": (lambda: Interface(**CUDA, typestr=None), "a has an array interface without 'typestr'"),
    "CUDA, another byte order": (lambda: Interface(**CUDA, typestr=">f4"), "a is of type >f4, whose bytes"),
    "CUDA, masked": (lambda: Interface(**CUDA, mask=A), "a is masked"),
    "CUDA, stream 0": (lambda: Interface(**CUDA, stream=0), "stream is 0.* at least 1"),
    "DLPack, a consumed capsule": (
        lambda: Exporter(consumed),
        "a .*DLPack capsule.* taken",
    ),
    "DLPack, an old consumed one": (
        lambda: Exporter(consumed()),
        "a .*DLPack capsule.* tensor",
    ),
    "DLPack, no capsule": (lambda: Exporter(5), "a .*__dlpack__.* int .*capsule"),
    "DLPack, refused": (
        lambda: Exporter(BufferError("no\nmore")),
        "a of type .*Exporter can't be .* library: BufferError: no$",
    ),
    "DLPack, no device": (lambda: Exporter(A.__dlpack__, device=1), "a of type .*Exporter can't be handed over"),
    "a capsule": (lambda: A.__dlpack__(), "a is a capsule: pass the array"),
}


@pytest.mark.parametrize("make, words", BROKEN.values(), ids=BROKEN)
def test_what_breaks_the_rules_of_its_interface_is_refused(make, words):
    with pytest.raises(jg.OperandError, match=words) as caught:
        jg.matmul(make(), B, out=np.zeros((6, 4), "float32"), device=EMULATOR)
    assert len(caught.value.reasons) == 1


def test_interfaces_that_keep_their_rules_are_served():
    for array in (Interface(), Interface(strides=None), Exporter(A.__dlpack__)):
        out = np.zeros((6, 4), "float32")
        jg.matmul(array, B, out=out, device=EMULATOR)
        np.testing.assert_array_equal(out, A.astype("float64") @ B)


def test_what_is_no_complaint_of_a_library_is_raised_as_it_is():
    for exception in (KeyboardInterrupt, MemoryError, RecursionError):
        with pytest.raises(exception):
            jg.matmul(Exporter(exception()), B, device=EMULATOR)


def never_ends(**how):
    jg.matmul(Exporter(never_ends), B, device=EMULATOR)


def test_a_recursion_of_the_caller_is_raised_as_it_is():
    with pytest.raises(RecursionError):
        never_ends()


@pytest.mark.parametrize("leading", [(2**32, 2**32), (2**62, 4), (2**32, 2**32, 3), (2**63 - 1, 2)])
def test_leading_sizes_whose_product_exceeds_64_bits_are_no_empty_and_no_small_product(leading):
    still = (0,) * len(leading)
    many = Interface(shape=(*leading, 6, 5), strides=(*still, 20, 4))
    out = np.zeros((6, 4), "float32")
    lies = {**out.__array_interface__, "shape": (*leading, 6, 4), "strides": (*still, 16, 4)}
    one_for_all = Interface(**{key: lies[key] for key in ("data", "shape", "strides", "typestr", "version")})
    for given in ({"a": many, "b": B}, {"a": A, "b": Interface(shape=(*leading, 5, 4), strides=(*still, 16, 4))}):
        with pytest.raises(jg.Error):
            jg.matmul(given["a"], given["b"], out=one_for_all, device=EMULATOR)
    assert not out.any()


class HasPointer:
    def __init__(self, ptr):
        self.ptr = ptr


class SpeaksStream:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


STREAMS = {
    "negative": (-1, "stream is -1.* 64 bits"),
    "beyond 64 bits": (2**64, "stream is 18446744073709551616"),
    "a flag": (True, "stream is of type bool"),
    "a text": ("0", "stream is of type str"),
    "a number with a fraction": (0.5, "stream is of type float"),
    "no stream": (object(), "stream .*object.* integer, torch.cuda.Stream"),
    "a handle that is none": (HasPointer(None), "stream .*NoneType.* integer"),
    "a negative handle": (HasPointer(-4), "stream is -4"),
    "the protocol without a version": (SpeaksStream(7), "__cuda_stream__.*version, handle"),
    "the protocol with a text": (SpeaksStream((0, "7")), "stream has a handle of type str"),
    "the protocol, raising": (SpeaksStream(ValueError("closed")), "gives no handle: closed"),
}


@pytest.mark.parametrize("stream, words", STREAMS.values(), ids=STREAMS)
def test_no_stream(stream, words):
    out = np.zeros((6, 4), "float32")
    with pytest.raises(jg.OperandError, match=words):
        jg.matmul(A, B, out=out, stream=stream, device=EMULATOR)
    with pytest.raises(jg.OperandError, match=words):
        jg.kernel("f32 tt 6 4 5", device=EMULATOR)(A, B, out=out, stream=stream)
    assert not out.any()


@pytest.mark.parametrize("stream", [None, 0, 1, 2**64 - 1, HasPointer(0), SpeaksStream((0, 5))])
def test_a_stream_orders_nothing_in_host_memory(stream):
    np.testing.assert_array_equal(jg.matmul(A, B, stream=stream, device=EMULATOR), A.astype("float64") @ B)


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(jg.OperandError) as caught:
        jg.matmul(A[::-1], B[::-1], out=np.zeros((12, 8), "float32")[::2, ::2], device=EMULATOR)
    assert [reason.split(" ")[0] for reason in caught.value.reasons] == ["a", "b", "out"]


def test_arguments_are_counted():
    for wrong in (lambda: jg.matmul(), lambda: jg.matmul(A), lambda: jg.matmul(A, B, A), lambda: jg.matmul(A, B, a=A)):
        with pytest.raises(TypeError, match=r"matmul\(\)"):
            wrong()


def test_keywords_need_not_be_interned():
    device, unknown = (str(b"xxdevice"[2:], "ascii"), str(b"xxdevices"[2:], "ascii"))
    np.testing.assert_array_equal(jg.matmul(A, B, **{device: EMULATOR}), A.astype("float64") @ B)
    with pytest.raises(TypeError, match="unexpected keyword argument 'devices'"):
        jg.matmul(A, B, **{unknown: EMULATOR})


def test_devices_are_told_apart_whatever_was_asked_before():
    for device in (EMULATOR, "emulator:sm_90a", EMULATOR, str(b"emulator:sm_80", "ascii")):
        np.testing.assert_array_equal(jg.matmul(A, B, device=device), A.astype("float64") @ B)
        with pytest.raises(jg.SpecError, match="unknown device 'emul'"):
            jg.matmul(A, B, device="emul")


def test_one_hierarchy():
    assert issubclass(jg.OperandError, jg.SpecError) and issubclass(jg.SpecError, jg.Error)
    assert issubclass(jg.SpecError, ValueError) and issubclass(jg.ConfigError, ValueError)


def test_views_outlive_the_arrays_that_they_are_of():
    for seed in range(20):
        a, b = small_integers((64, 50), seed=seed)[1:, 1:], small_integers((49, 40), seed=seed + 1).T.T
        expected = a.astype("float64") @ b
        d = jg.matmul(a, b, device=EMULATOR)
        del a, b
        gc.collect()
        np.testing.assert_array_equal(d, expected)


def test_nothing_leaks():
    import sys

    out = np.zeros((6, 4), "float32")
    jg.matmul(A, B, out=out, device=EMULATOR)
    before = [sys.getrefcount(x) for x in (A, B, out)]
    for _ in range(50):
        jg.matmul(A, B, out=out, device=EMULATOR)
        with pytest.raises(jg.OperandError):
            jg.matmul(A, A, out=out, device=EMULATOR)
    gc.collect()
    assert [sys.getrefcount(x) for x in (A, B, out)] == before


def test_sixteen_threads_at_once():
    wrong = []

    def multiply(thread):
        for size in range(3, 9):
            a, b = small_integers((size, 7), seed=thread), small_integers((7, size + 2), seed=thread)
            if not np.array_equal(jg.matmul(a, b, device=EMULATOR), a.astype("float64") @ b):
                wrong.append((thread, size))

    threads = [threading.Thread(target=multiply, args=(thread,)) for thread in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def _in_child(kernel, answers):
    try:
        kernel(A, B)
    except jg.Error as error:
        answers.put(str(error))
    answers.put(bool(np.array_equal(jg.matmul(A, B, device=EMULATOR), A.astype("float64") @ B)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_makes_its_own_kernels():
    kernel = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    kernel(A, B)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_child, args=(kernel, answers))
    child.start()
    assert "after a fork" in answers.get(timeout=60)
    assert answers.get(timeout=60) is True
    child.join(60)
    assert child.exitcode == 0
    np.testing.assert_array_equal(kernel(A, B), A.astype("float64") @ B)


FORKS_BESIDE_COMPILES = """
import os, signal, threading, time
import numpy as np
import jitgemm as jg

stop, made = threading.Event(), []

def make(thread):
    for count in range(10**6):
        if stop.is_set():
            return
        param = f"stages=2,group={1 + 3 * count + thread}"  # a text of its own
        made.append(jg.kernel("bf16 tn 128 128 64", device="emulator:sm_80", family="mma_multistage", param=param))

def multiply():
    signal.alarm(200)
    a, b = np.ones((6, 5), "f4"), np.ones((5, 4), "f4")
    try:
        return 10 if (jg.matmul(a, b, device="emulator:sm_80") == 5).all() else 1
    except jg.CompileError as error:
        return 11 if "fork" in str(error) else 2

threads = [threading.Thread(target=make, args=(thread,), daemon=True) for thread in range(3)]
for thread in threads:
    thread.start()
outcomes = []
for _ in range(4):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        os._exit(multiply())
    outcomes.append(os.waitpid(child, 0)[1])
stop.set()
for thread in threads:
    thread.join()
print(outcomes, len(made))
assert all(os.WIFEXITED(outcome) and os.WEXITSTATUS(outcome) in (10, 11) for outcome in outcomes) and made
"""


def test_a_fork_beside_threads_that_compile_has_a_child_that_goes_on():
    environment = {**os.environ, "JITGEMM_CACHE_DIR": "", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", FORKS_BESIDE_COMPILES], env=environment, check=True, timeout=600)


def test_without_a_driver_it_says_where_it_looked():
    if has_gpu():
        pytest.skip("there is a GPU")
    with pytest.raises(jg.CudaError, match="no CUDA driver") as caught:
        jg.matmul(A, B, device="cuda")
    assert isinstance(caught.value.call, str)
