"""A program's requests are written down, and compiled before the next run."""

from __future__ import annotations

import os
import subprocess
import sys

import jitgemm as jg
import pytest
from conftest import small_integers
from jitgemm import _tool

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_80"


def multiply(m, n=4, k=5, **options):
    a, b = small_integers((m, k)), small_integers((k, n), seed=1)
    assert (jg.matmul(a, b, device=EMULATOR, **options) == a @ b).all()


def lines(path):
    return path.read_text().splitlines()


def asked(path, problems):
    """The same problems in the words of a record."""
    with jg.record(path):
        for problem in problems:
            jg.kernel(problem, device=EMULATOR)
    return lines(path)


def test_a_record_has_each_problem_once(tmp_path):
    file = tmp_path / "record.txt"
    multiply(6)  # known before
    with jg.record(file) as recording:
        for m in (6, 7, 6):
            multiply(m)
        jg.kernel("f32 tt 7 4 5", device=EMULATOR)
    multiply(8)
    assert repr(recording) == f"jitgemm.record({str(file)!r})"
    assert lines(file) == asked(tmp_path / "other.txt", ["f32 tt 6 4 5", "f32 tt 7 4 5"])


def test_records_nest_and_end(tmp_path):
    outer, inner = tmp_path / "outer.txt", tmp_path / "inner.txt"
    jg.record(outer)
    with jg.record(str(inner)):
        multiply(11)
    multiply(12)
    assert jg.stop_recording() == str(outer)
    assert jg.stop_recording() is None
    multiply(13)
    assert len(lines(outer)) == len(lines(inner)) == 1
    assert "m=12 " in lines(outer)[0] and "m=11 " in lines(inner)[0]


@pytest.mark.parametrize("path, error", [(7, TypeError), ("", TypeError), (b"x", TypeError), ("/", jg.Error)])
def test_what_is_no_file_to_record_into_is_refused(path, error):
    with pytest.raises(error):
        jg.record(path)
    assert jg.stop_recording() is None


RECORDED = """
import sys
import jitgemm as jg, numpy as np
jg.record(sys.argv[1])
for m in range(1, 6):
    jg.matmul(np.ones((m, 3), "float32"), np.ones((3, 2), "float32"), device="emulator:sm_80")
"""


def test_processes_record_into_one_file(tmp_path):
    file = tmp_path / "record.txt"
    programs = [subprocess.Popen([sys.executable, "-c", RECORDED, str(file)]) for _ in range(2)]
    assert [program.wait(300) for program in programs] == [0, 0]
    recorded = lines(file)
    assert len(recorded) == len(set(recorded)) == 5


def test_a_variable_records_a_whole_process(tmp_path):
    file = tmp_path / "record.txt"
    program = RECORDED.replace("jg.record(sys.argv[1])", "")
    for name, status in [(str(file), 0), ("/", 1)]:
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "JITGEMM_RECORD": name}, capture_output=True, text=True
        )
        assert done.returncode == status, done.stderr
    assert len(lines(file)) == 5


def test_a_record_replayed_compiles_what_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("JITGEMM_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "record.txt"
    with jg.record(file):
        multiply(6)
        multiply(9, deterministic="batch_invariant")
        jg.matmul(np.ones((3, 4), "float16"), np.ones((4, 2), "float16"), c=np.ones(2, "float16"), device=EMULATOR)
    told = []
    first = jg.warm(file, gpu="a100", jobs=2, progress=told.append)
    assert first["problems"] == 3 and first["unserved"] == first["failed"] == []
    assert first["compiled"] == first["kernels"] > 0
    assert told and {document["event"] for document in told} == {"progress"}
    assert jg.warm(str(file), gpu="a100")["compiled"] == 0
    again = jg.warm(lines(file), gpu="a100")
    assert again["compiled"] == 0 and again["from_cache"] == first["kernels"]
    chosen = {jg.list(line, gpu="a100", limit=1)["choice"]["kernel"] for line in lines(file)}
    cached = {name.rpartition("-")[0] for name in os.listdir(tmp_path / "cache") if "-" in name}
    assert chosen <= cached


def test_on_this_machines_gpu_the_kernels_are_loaded_as_well(tmp_path, monkeypatch):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    with jg.record(first):
        multiply(6)
        multiply(7)
    monkeypatch.setattr(_tool, "ask", lambda words, progress: {"words": words})
    with jg.device(EMULATOR), jg.record(second):
        document = jg.warm(["# a comment", *lines(first), "f32 tt m=1:9 n=2 k=2", "tf32 tn 8 8 8"], jobs=3)
    assert lines(second)[:2] == lines(first)
    assert "--jobs" in document["words"] and "--gpu" not in document["words"]


def test_a_range_is_recorded_and_warmed_as_one_set(tmp_path, monkeypatch):
    file = tmp_path / "record.txt"
    with jg.record(file):
        few = jg.kernels("f32 tt 1 24 18", m=(1, 40), device=EMULATOR)
        jg.kernels("f32 tt 3 24 18", m=(1, 40), device=EMULATOR)
        jg.kernels("f32 tt 1 24 18", m=(7, 7), device=EMULATOR)
    assert len(lines(file)) == 2
    assert " m=1:40 n=24 k=18 " in lines(file)[0] and " m=7:7 " in lines(file)[1]
    monkeypatch.setenv("JITGEMM_CACHE_DIR", str(tmp_path / "cache"))
    warmed = jg.warm(lines(file)[0], gpu="a100")
    assert warmed["problems"] == 40 and warmed["failed"] == warmed["unserved"] == []
    chosen = _tool.ask(["kernels", "f32", "tt", "m=1:40", "n=24", "k=18", "--gpu", "a100"], None)
    cached = {name.rpartition("-")[0] for name in os.listdir(tmp_path / "cache") if "-" in name}
    assert {kernel["name"] for kernel in chosen["kernels"]} <= cached
    assert few.json["first_m"] == 1


def test_ranges_are_loaded_for_the_default_device(tmp_path, monkeypatch):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    ranges = ["f32 tt m=1:9 n=2 k=3", "f32 tt 1:9 2 4", "f32 tt n=2 k=5 m=1:9", "f32 tt m=1:9:*2 n=2 k=6"]
    with jg.device(EMULATOR), jg.record(first):
        for k in (3, 4, 5):
            jg.kernels(f"f32 tt 1 2 {k}", m=(1, 9))
    monkeypatch.setattr(_tool, "ask", lambda words, progress: {"words": words})
    with jg.device(EMULATOR), jg.record(second):
        jg.warm([*ranges, *lines(first)[:1]])
    assert lines(second) == lines(first)


def test_problems_that_nothing_serves_are_told():
    document = jg.warm("tf32 tn 8 8 8", gpu="h200")
    assert document["kernels"] == 0 and "tf32" in document["unserved"][0]["reason"]
    with pytest.raises(jg.UsageError):
        jg.warm("f32 tt 8 8", gpu="h200")
    with pytest.raises(ValueError, match="h201"):
        jg.warm("f32 tt 8 8 8", gpu="h201")


# ---- models --------------------------------------------------------------------------------------


def model_of(torch):
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 24),
        torch.nn.Linear(24, 8, bias=False),
        torch.nn.Linear(8, 16, bias=False),
        torch.nn.Linear(16, 1),
    )
    model[2].weight = torch.nn.Parameter(torch.randn(8, 16).t())
    return model


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_models_problems_are_what_its_layers_ask_for(tmp_path, dtype):
    torch = pytest.importorskip("torch", minversion="2.6")
    from jitgemm import _torch_warm

    model = model_of(torch).to(getattr(torch, dtype))
    jg.torch.replace_linear(model, device=EMULATOR)
    rows = [1, 6, 17]
    expected = asked(tmp_path / "expected.txt", _torch_warm.lines(model, rows))
    with torch.no_grad(), jg.record(tmp_path / "record.txt"):
        for m in rows:
            model(torch.zeros(m, 16, dtype=getattr(torch, dtype)))
    assert sorted(lines(tmp_path / "record.txt")) == sorted(expected)


@pytest.mark.parametrize("scales", ["row", "1x128,128x128"])
def test_a_quantized_models_problems_are_what_its_layers_ask_for(tmp_path, scales):
    torch = pytest.importorskip("torch", minversion="2.6")
    from jitgemm import _torch_warm

    model = torch.nn.Sequential(torch.nn.Linear(150, 144), torch.nn.Linear(144, 16, bias=False)).bfloat16()
    options = {"weights": "fp8", "scales": scales, "deterministic": "batch_invariant", "device": "emulator:sm_90a"}
    jg.torch.replace_linear(model, **options)
    with jg.record(tmp_path / "expected.txt"):
        for problem in _torch_warm.lines(model, [1, 6]):
            jg.kernel(problem, device="emulator:sm_90a")
    with torch.no_grad(), jg.record(tmp_path / "record.txt"):
        for m in (1, 6):
            model(torch.zeros(m, 150, dtype=torch.bfloat16))
    assert sorted(lines(tmp_path / "record.txt")) == sorted(lines(tmp_path / "expected.txt"))


def fusing_model_of(torch):
    class Llama(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.up = torch.nn.Linear(16, 24, bias=False), torch.nn.Linear(16, 24, bias=False)
            self.down, self.act = torch.nn.Linear(24, 16, bias=False), torch.nn.SiLU()

        def forward(self, x):
            return self.down(self.act(self.gate(x)) * self.up(x))

    activated = [torch.nn.Linear(16, 8), torch.nn.GELU(), torch.nn.Linear(8, 16, bias=False), torch.nn.ReLU()]
    return torch.nn.Sequential(Llama(), jg.torch.GatedMLP(16, 40, "gelu"), *activated, torch.nn.Linear(16, 16))


def test_a_fusing_models_problems_are_what_its_layers_ask_for(tmp_path):
    torch = pytest.importorskip("torch", minversion="2.6")
    from jitgemm import _torch_warm

    model, rows = fusing_model_of(torch), [1, 6]
    jg.torch.replace_linear(model, device=EMULATOR)
    expected = asked(tmp_path / "expected.txt", _torch_warm.lines(model, rows))
    with torch.no_grad(), jg.record(tmp_path / "record.txt"):
        for m in rows:
            model(torch.zeros(m, 16))
    assert sorted(lines(tmp_path / "record.txt")) == sorted(expected)
    assert sum("silu(acc) * up" in line for line in expected) == 2
    assert jg.torch.warm(model, range(2, 4), gpu="h100")["failed"] == []


def test_a_model_is_warmed_without_being_run(monkeypatch):
    torch = pytest.importorskip("torch", minversion="2.6")
    with torch.device("meta"):
        model = torch.nn.Linear(64, 32, dtype=torch.bfloat16)
    document = jg.torch.warm(model, range(1, 9), gpu="a100")
    assert document["problems"] == 8 and document["failed"] == document["unserved"] == []
    from jitgemm import _torch_warm

    assert list(_torch_warm.lines(model, range(1, 9))) == [
        "gemm-v2 m=1 n=32 k=64 a=bf16 layout=tn ldb=64 c=bf16",
        "gemm-v2 m=2:8 n=32 k=64 a=bf16 layout=tn ldb=64 c=bf16 broadcast-c=yes",
    ]
    assert [line.split()[1] for line in _torch_warm.lines(model, [4, 5], torch.float16)] == ["m=4", "m=5"]
    for wrong in (0, [], [1.5], "6"):
        with pytest.raises((ValueError, TypeError), match="rows"):
            jg.torch.warm(model, wrong)
    with pytest.raises(ValueError, match="Linear"):
        jg.torch.warm(torch.nn.GELU(), 4)
    with pytest.raises(TypeError, match="model"):
        jg.torch.warm([model], 4)
