"""jitgemm.kernel: what it is made from, what it tells, what it launches."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import re
import struct
import subprocess
import threading

import jitgemm as jg
import pytest

EMULATOR = "emulator:sm_80"


def test_a_kernel_tells_what_it_is():
    k = jg.kernel("bf16 tn 64 48 32", device=EMULATOR)
    assert isinstance(k, jg.Kernel)
    assert k.name.startswith(("mma_multistage_bf16_tn", "simt")) and k.name in repr(k)
    assert k.spec.startswith("gemm-v1 m=64 n=48 k=32 a=bf16")
    assert f"kernel   {k.name}" in k.source and "__global__" in k.source
    assert b".target sm_80" in k.cubin  # PTX on the emulator
    assert k.device == EMULATOR
    assert k.json["kernel"] == k.name and k.json["m"] == 64 and k.json["workspace_bytes"] == k.workspace
    assert k.explain().splitlines()[1] == k.name and "Asked for by name" not in k.explain()


def test_fields_in_place_of_a_text():
    by_text = jg.kernel("gemm-v2 m=5 n=6 k=7 a=f32 layout=tt lda=9 d-layout=n", device=EMULATOR)
    by_fields = jg.kernel(m=5, n=6, k=7, a="f32", layout="tt", lda=9, d_layout="n", device=EMULATOR)
    assert by_fields.spec == by_text.spec


@pytest.mark.parametrize("layout", ["tn", "nn", "nt", "tt"])
@pytest.mark.parametrize("m, n, k", [(1, 6, 9), (6, 1, 9), (5, 6, 1)])
def test_one_row_or_column_in_either_order(layout, m, n, k):
    np = pytest.importorskip("numpy")
    kernel = jg.kernel(f"f32 {layout} {m} {n} {k}", device=EMULATOR)
    a = np.arange(m * k, dtype="float32").reshape(m, k)
    b = np.arange(k * n, dtype="float32").reshape(k, n) % 5
    orders = {"t": "C", "n": "F"}
    placed = np.array(a, order=orders[layout[0]]), np.array(b, order=orders[layout[1]])
    np.testing.assert_array_equal(kernel(*placed), a @ b)
    assert f"layout={layout}" in kernel.spec  # as asked, however the kernel reads it


@pytest.mark.parametrize(
    "text", ["bf16 tn 64 48 32", "f32 tt 6 4 5  # small", "gemm-v2 m=5 n=6 k=7 a=f32 layout=tt ldd=9"]
)
def test_the_text_of_a_problem_is_the_same_everywhere(text, tmp_path):
    printed = jg.kernel(text, device=EMULATOR).spec  # in full: "gemm-v1 m=..."
    assert jg.kernel(printed, device=EMULATOR).spec == printed
    assert jg.kernel(f" \t{printed} # again", device=EMULATOR).spec == printed
    by_text, by_printed = (jg.list(spec, arch="sm_80", limit=1) for spec in (text.partition("#")[0], printed))
    assert by_text["candidates"] == by_printed["candidates"]
    shapes = tmp_path / "shapes.txt"
    shapes.write_text(f"{text}\n{printed}\n")
    with pytest.raises(jg.UsageError, match="shapes.txt:3: n is -1.* negative"):
        shapes.write_text(f"{text}\n{printed}\ngemm-v1 m=4 n=-1 k=4\n")
        jg.tune(shapes, device=EMULATOR)


@pytest.mark.parametrize(
    "text",
    [
        "bf16 tn 64 -48 32",
        "gemm-v1 m=64 n=-48 k=32",
        "gemm-v1 m=64 n=48",
        "gemm-v1 m=64 q=1",
        "gemm-v9 m=64",
        "bf16 tn 64",
        "b16 tn 1 2 3",
    ],
)
def test_a_wrong_text_is_told_the_same_everywhere(text):
    with pytest.raises(jg.SpecError) as of_kernel:
        jg.kernel(text, device=EMULATOR)
    with pytest.raises(jg.SpecError) as of_tool:
        jg.list(text, arch="sm_80")
    assert str(of_kernel.value) == str(of_tool.value) and of_kernel.value.reasons == of_tool.value.reasons


@pytest.mark.parametrize(
    "fields",
    [
        {"a": "f32 lda=100"},
        {"a": "f32\tn=8"},
        {"a": "f32 # layout"},
        {"layout": "tt\nlda=100"},
        {"lda=100 layout": "tt"},
        {"lda": "100 ldb=8"},
    ],
)
def test_one_field_is_no_way_to_set_another(fields):
    given = {"m": 6, "n": 4, "k": 5, "a": "f32", "layout": "tt", **fields}
    with pytest.raises(jg.SpecError if set(given) <= {"m", "n", "k", "a", "layout", "lda"} else TypeError):
        jg.kernel(**given, device=EMULATOR)


def test_explain_is_of_the_gpu_that_the_kernel_is_for(monkeypatch):
    from jitgemm import _tool

    class Second(jg.Kernel):
        device = "cuda:1"

    asked = []

    def run(command, env, **_):
        asked.append((command[1:], env["CUDA_VISIBLE_DEVICES"]))
        return subprocess.CompletedProcess(command, 0, "Why\n" + k.name, "")

    k = Second("f32 tt 64 64 64", device=EMULATOR)
    monkeypatch.setattr(subprocess, "run", run)
    for visible, its_name in ((None, "1"), ("3,5", "5"), ("GPU-aa, GPU-bb", "GPU-bb")):
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        if visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert k.explain().endswith(k.name)
        assert asked.pop() == (["explain", *k.spec.split()], its_name) and not asked
    assert _tool.seeing(0, {}) == {"CUDA_VISIBLE_DEVICES": "0"}


def test_a_kernel_can_be_forced():
    k = jg.kernel("f32 tt 64 64 64", device=EMULATOR, family="simt_naive")
    assert k.name.startswith("simt_naive") and k.json["choice"] == "heuristic"
    assert k.explain().splitlines()[1] == k.name and "Asked for by name" in k.explain()
    assert jg.kernel("f32 tt 64 64 64", device=EMULATOR, kernel=k.name).json["choice"] == "forced"
    with pytest.raises(jg.ConfigError) as caught:
        jg.kernel("f32 tt 64 64 64", device=EMULATOR, kernel="mma_multistage_bf16_tn_128x128x32_warp64x64_stages3")
    assert len(caught.value.reasons) >= 1


@pytest.mark.parametrize(
    "ask, error, words",
    [
        (lambda: jg.kernel("bf16 tn 64 48", device=EMULATOR), jg.SpecError, "has 4 words"),
        (lambda: jg.kernel("bf16 tn 64 -48 32", device=EMULATOR), jg.SpecError, "n is -48: a size cannot be negative"),
        (lambda: jg.kernel("f32 tt 6 4 5", m=6), TypeError, "a spec or its fields"),
        (lambda: jg.kernel(mm=6), TypeError, "mm"),
        (lambda: jg.kernel("e4m3 tn 64 48 32", device=EMULATOR), jg.ConfigError, "sm_89 and newer, not on sm_80"),
        (lambda: jg.kernel(5), TypeError, "str"),
        (lambda: jg.Kernel.__new__(jg.Kernel).name, jg.Error, "__init__ was not called"),
        (lambda: jg.kernel("f32 tt 6 4 5", device=EMULATOR).__init__("f32 tt 6 4 5"), jg.Error, "is made"),
    ],
)
def test_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


def test_of_threads_that_initialise_one_kernel_one_makes_it():
    k, ended = jg.Kernel.__new__(jg.Kernel), []

    def initialise():
        try:
            k.__init__("f32 tt 11 13 17", device=EMULATOR)
            ended.append("made")
        except jg.Error as error:
            ended.append("refused" if "is made" in str(error) else str(error))

    threads = [threading.Thread(target=initialise) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == ["made"] + ["refused"] * 7


def in_a_new_process(kernel, answers):
    answers.put((kernel.name, kernel.spec, kernel.device))


@pytest.mark.parametrize("text", ["f32 tt 6 4 5", "bf16 tn 64 48 32", "gemm-v2 m=5 n=6 k=7 a=f32 layout=tt d-layout=n"])
def test_a_kernel_is_pickled_as_what_it_is_made_from(text):
    k = jg.kernel(text, device=EMULATOR, family="simt_hierarchical" if text.startswith("f32") else None)
    pickled = [pickle.loads(pickle.dumps(k, protocol)) for protocol in range(6)]
    for again in (*pickled, copy.copy(k), copy.deepcopy([k])[0]):
        assert type(again) is jg.Kernel
        assert (again.name, again.spec, again.device) == (k.name, k.spec, k.device) and repr(again) == repr(k)
        assert again.source == k.source
    with pytest.raises(jg.Error, match="__init__ was not called"):
        pickle.dumps(jg.Kernel.__new__(jg.Kernel))


def test_a_kernel_is_asked_for_again_in_a_spawned_process():
    k = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    child = context.Process(target=in_a_new_process, args=(k, answers))
    child.start()
    assert answers.get(timeout=120) == (k.name, k.spec, k.device)
    child.join(60)
    assert child.exitcode == 0


class TestLaunches:
    np = pytest.importorskip("numpy")

    def operands(self, m=6, n=4, k=5):
        from conftest import small_integers

        return small_integers((m, k)), small_integers((k, n), seed=1)

    def test_it_multiplies(self):
        a, b = self.operands()
        k = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
        out = self.np.zeros((6, 4), "float32")
        for _ in range(2):  # the second time it knows the arrays
            assert k(a, b, out=out) is out
            self.np.testing.assert_array_equal(out, a @ b)
        self.np.testing.assert_array_equal(k(a, b, alpha=2), 2 * (a @ b))

    def test_it_says_how_arrays_differ_from_its_problem(self):
        a, b = self.operands()
        k = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
        for x, y, words in [
            (a[:5], b, "m is 5.* 6"),
            (a, self.np.asfortranarray(b), "layout .*tn.* tt"),
            (a.astype("float16"), b.astype("float16"), "type of a .*f16.* f32"),
            (self.np.zeros((6, 8), "float32")[:, :5], b, "a's leading dimension .*8.* 5"),
        ]:
            with pytest.raises(jg.OperandError, match=words):
                k(x, y)
        with pytest.raises(jg.OperandError, match="c is given.* no C"):
            k(a, b, c=self.np.zeros((6, 4), "float32"))

    def test_one_row_may_lie_either_way(self):
        a, b = self.operands(m=1)
        for layout in ("tt", "nt"):
            k = jg.kernel(f"f32 {layout} 1 4 5", device=EMULATOR)
            self.np.testing.assert_array_equal(k(a, b), a @ b)

    @pytest.mark.parametrize(
        "fields, m, n",
        [
            ({"lda": 9}, 1, 4),
            ({"ldd": 9}, 1, 4),
            ({"c": "f32", "ldc": 9}, 1, 4),
            ({"layout": "tn", "ldb": 9}, 6, 1),
            ({"layout": "nn", "ldb": 9, "lda": 6}, 6, 1),
            ({"d_layout": "n", "ldd": 9}, 6, 1),
            ({"d_layout": "n"}, 1, 4),
            ({"c": "f32", "d_layout": "n", "ldc": 9, "ldd": 11}, 6, 1),
        ],
    )
    def test_one_row_or_column_has_no_pitch_that_could_differ(self, fields, m, n):
        a, b = self.operands(m=m, n=n)
        if fields.get("layout") == "nn":
            a = self.np.asfortranarray(a)
        k = jg.kernel(**{"m": m, "n": n, "k": 5, "a": "f32", "layout": "tt", **fields}, device=EMULATOR)
        c = {"c": self.np.arange(m * n, dtype="float32").reshape(m, n)} if "c" in fields else {}
        expected = a.astype("float64") @ b + c.get("c", 0)
        for out in ({}, {"out": self.np.zeros((m, n), "float32")}):
            for _ in range(2):
                self.np.testing.assert_array_equal(k(a, b, **c, **out), expected)

    def test_a_result_that_is_not_packed_must_be_given(self):
        a, b = self.operands()
        k = jg.kernel("gemm-v1 m=6 n=4 k=5 a=f32 layout=tt d-layout=n", device=EMULATOR)
        with pytest.raises(jg.OperandError, match="no packed row-major matrix"):
            k(a, b)
        out = self.np.zeros((4, 6), "float32").T
        self.np.testing.assert_array_equal(k(a, b, out=out), a @ b)

    def test_with_c(self):
        a, b = self.operands()
        c = self.np.ones((6, 4), "float32")
        k = jg.kernel("gemm-v1 m=6 n=4 k=5 a=f32 layout=tt c=f32", device=EMULATOR)
        self.np.testing.assert_array_equal(k(a, b, c=c, beta=3), a @ b + 3)
        row = self.np.arange(4, dtype="float32")
        self.np.testing.assert_array_equal(k(a, b, c=self.np.broadcast_to(row, (6, 4))), a @ b + row)
        self.np.testing.assert_array_equal(k(a, b, c=c), a @ b + 1)
        self.np.testing.assert_array_equal(k(a, b), a @ b)
        self.np.testing.assert_array_equal(k(a, b, out=c, accumulate=True), a @ b + 1)

    def test_with_a_row_of_c(self):
        a, b = self.operands()
        row, c = self.np.arange(4, dtype="float32"), self.np.ones((6, 4), "float32")
        repeated = self.np.broadcast_to(row, (6, 4))
        k = jg.kernel(m=6, n=4, k=5, a="f32", c="f32", layout="tt", broadcast_c="yes", device=EMULATOR)
        assert " ldc=0 " in k.spec and k.spec.endswith(" broadcast-c=yes") and k.json["broadcast_c"] == "yes"
        assert k.name == jg.kernel("gemm-v1 m=6 n=4 k=5 a=f32 layout=tt c=f32", device=EMULATOR).name
        self.np.testing.assert_array_equal(k(a, b, c=repeated, beta=3), a @ b + 3 * row)
        with pytest.raises(jg.OperandError, match="c .*all rows.* one row"):
            k(a, b, c=c)
        with pytest.raises(jg.OperandError, match="c is of all rows here"):
            k(a, b, out=c, accumulate=True)
        self.np.testing.assert_array_equal(k(a, b, c=repeated), a @ b + row)
        one = jg.kernel("gemm-v2 m=1 n=4 k=5 a=f32 layout=tt c=f32 broadcast-c=yes", device=EMULATOR)
        self.np.testing.assert_array_equal(one(a[:1], b, c=repeated[:1]), a[:1] @ b + row)
        with pytest.raises(jg.SpecError, match="broadcast_c is yes.* c is none"):
            jg.kernel("gemm-v2 m=6 n=4 k=5 broadcast-c=yes", device=EMULATOR)

    def test_with_a_c_that_no_kernel_reads_as_it_lies(self):
        a, b = self.operands()
        column, one = self.np.arange(6, dtype="float32").reshape(6, 1), self.np.float32(3)
        whole = self.np.asfortranarray(self.np.arange(24, dtype="float32").reshape(6, 4))
        k = jg.kernel("gemm-v1 m=6 n=4 k=5 a=f32 layout=tt c=f32", device=EMULATOR)
        for c in (column, one, whole, column, self.np.arange(8, dtype="float32")[::2]):
            self.np.testing.assert_array_equal(k(a, b, c=c, beta=2), a @ b + 2 * c)
            self.np.testing.assert_array_equal(k(a, b, c=c, beta=0), a @ b)
        one_row = jg.kernel(m=6, n=4, k=5, a="f32", c="f32", layout="tt", broadcast_c="yes", device=EMULATOR)
        self.np.testing.assert_array_equal(one_row(a, b, c=one), a @ b + one)
        with pytest.raises(jg.OperandError, match="c .*all rows.* one row"):
            one_row(a, b, c=column)
        with pytest.raises(jg.OperandError, match="would not outlive this call.*copy"):
            k.pack_arguments(a, b, c=column, out=self.np.zeros((6, 4), "float32"))

    def test_what_launching_it_elsewhere_takes(self):
        a, b = self.operands()
        out = self.np.zeros((6, 4), "float32")
        k = jg.kernel("f32 tt 6 4 5", device=EMULATOR, family="simt_naive")
        (launch,) = k.launch_info
        assert re.search(rf"\b{launch['function']}\(", k.source)
        assert launch["grid"][0] >= 1 and launch["block"] == (launch["threads"], 1, 1)
        (packed,) = k.pack_arguments(a, b, out=out, alpha=2)
        assert len(packed) == launch["argument_bytes"]
        fields = {field["role"]: field for field in launch["arguments"]}
        formats = {"pointer": "Q", "i32": "i", "i64": "q", "f32": "f"}
        values = {
            role: struct.unpack_from(formats[field["kind"]], packed, field["offset"])[0]
            for role, field in fields.items()
        }
        assert values["a"] == a.ctypes.data and values["b"] == b.ctypes.data and values["d"] == out.ctypes.data
        assert (values["m"], values["n"], values["k"], values["alpha"]) == (6, 4, 5, 2)
        with pytest.raises(TypeError, match="'out'"):
            k.pack_arguments(a, b)

    def test_a_workspace_of_the_caller(self):
        a, b = self.operands(m=32, n=32, k=4096)
        k = jg.kernel("f32 tt 32 32 4096", device=EMULATOR, param="split_k=4")
        if k.workspace == 0:
            pytest.skip("this kernel takes no workspace")
        room = self.np.zeros(k.workspace, "uint8")
        self.np.testing.assert_array_equal(k(a, b, workspace=room), a.astype("float64") @ b)
        with pytest.raises(jg.SpecError, match="workspace"):
            k(a, b, workspace=room[: k.workspace // 2])

    @pytest.mark.parametrize("spec, param", [("f32 tt 32 32 4096", "split_k=4"), ("f32 tt 32 32 64", None)])
    def test_a_workspace_is_memory_that_a_result_could_be_written_to(self, spec, param):
        np = self.np
        depth = int(spec.split()[-1])
        a, b = self.operands(m=32, n=32, k=depth)
        k = jg.kernel(spec, device=EMULATOR, param=param)
        needed = max(k.workspace, 64)
        memory = np.zeros(32 * 32 * 4 + needed + 16, "uint8")
        memory = memory[-memory.ctypes.data % 16 :]
        out = memory[: 32 * 32 * 4].view("float32").reshape(32, 32)
        room = memory[32 * 32 * 4 :]

        k(a, b, out=out, workspace=room[:needed])
        np.testing.assert_array_equal(out, a.astype("float64") @ b)
        for unfit, word in (
            (np.frombuffer(bytes(needed), "uint8"), "read-only"),
            (np.zeros(2 * needed, "uint8")[::2], "run of bytes"),
            (np.zeros((needed, 2), "uint8")[:, :1], "run of bytes"),
            (np.zeros(needed, "uint8")[::-1], "run of bytes"),
            (np.broadcast_to(np.zeros(1, "uint8"), (needed,)), "read-only"),
            (room[1 : 1 + needed], "aligned"),
            (memory[: needed + 16], "overlaps"),
            (a.reshape(-1), "overlaps"),
            (b, "overlaps"),
        ):
            with pytest.raises(jg.Error, match=word):
                k(a, b, out=out, workspace=unfit)
        by_column = np.asfortranarray(np.zeros((16, -(-needed // 16)), "uint8"))  # one run of bytes all the same
        np.testing.assert_array_equal(k(a, b, workspace=by_column), out)
