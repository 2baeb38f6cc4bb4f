"""On a GPU, against torch in float64: arrays of PyTorch, CuPy and numpy, streams, graphs, models."""

from __future__ import annotations

import copy
import multiprocessing
import statistics
import threading
import time

import jitgemm as jg
import pytest

pytestmark = pytest.mark.gpu
torch = pytest.importorskip("torch", minversion="2.6")
if not torch.cuda.is_available():
    pytest.skip("no GPU that torch can use", allow_module_level=True)

import jitgemm.torch
from test_torch import Transformer, losses
from torch import library


def tensor(*shape, dtype=torch.bfloat16, seed=0, device="cuda"):
    generator = torch.Generator(device).manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator, device=device).to(dtype)


def assert_exact(d, a, b, plus=0):
    """The exact sum, rounded once."""
    torch.testing.assert_close(d, (a.double() @ b.double() + plus).to(d.dtype), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("m, n, k", [(256, 384, 512), (255, 129, 77), (1, 512, 256)])
def test_every_type_and_layout(dtype, transpose_a, transpose_b, m, n, k):
    a = tensor(k, m, dtype=dtype).T if transpose_a else tensor(m, k, dtype=dtype)
    b = tensor(n, k, dtype=dtype, seed=1).T if transpose_b else tensor(k, n, dtype=dtype, seed=1)
    d = jg.matmul(a, b)
    assert d.dtype == dtype and d.device == a.device and d.is_contiguous()
    assert_exact(d, a, b)


def test_views_out_c_and_accumulate():
    a, b = tensor(200, 150)[3:103, 1:131], tensor(90, 140, seed=1)[:, 2:132].T
    out = torch.full((110, 100), torch.nan, device="cuda", dtype=torch.float32)
    view = out[5:105, 7:97]
    assert_exact(jg.matmul(a, b, out=view), a, b)
    assert out[:5].isnan().all() and out[105:].isnan().all() and out[:, :7].isnan().all() and out[:, 97:].isnan().all()
    before = view.double().clone()
    jg.matmul(a, b, out=view, accumulate=True)
    torch.testing.assert_close(view.double(), 2 * before, rtol=0, atol=0)
    c = tensor(100, 90, seed=2)
    assert_exact(jg.matmul(a, b, c=c, beta=0.5), a, b, plus=0.5 * c.double())


def test_lists_of_matrices():
    room = tensor(7, 64, 96)
    a = [room[i, :, 8 * i : 8 * i + 40] for i in (3, 0, 5)]
    b = [tensor(40, 48, seed=1)] * 3
    for x, y, d in zip(a, b, jg.batched_matmul(a, b)):
        assert_exact(d, x, y)
    out = [torch.empty(64, 48, device="cuda", dtype=torch.bfloat16) for _ in range(3)]
    for _ in range(20):  # the addresses of one call may not change before its kernel has read them
        jg.batched_matmul(a, b, out=out)
        jg.batched_matmul(a[::-1], b, out=out[::-1])
    for x, y, d in zip(a, b, out):
        assert_exact(d, x, y)


def test_leading_dimensions_are_rows():
    x, w = tensor(4, 33, 96), tensor(64, 96, seed=1)
    assert_exact(jg.matmul(x, w.T), x, w.T)


def test_what_is_refused():
    a, b = tensor(64, 64), tensor(64, 64, seed=1)
    with pytest.raises(jg.OperandError, match="a lies in cuda:0, b host memory"):
        jg.matmul(a, b.cpu())
    with pytest.raises(jg.OperandError, match="cuda:0.* emulator"):
        jg.matmul(a, b, device="emulator")
    with pytest.raises(jg.OperandError, match="a requires grad"):
        jg.matmul(a.clone().requires_grad_(), b)
    if torch.cuda.device_count() > 1:
        with pytest.raises(jg.OperandError, match="a lies in cuda:0, b cuda:1"):
            jg.matmul(a, b.to("cuda:1"))


@pytest.mark.skipif("torch.cuda.device_count() < 2", reason="one GPU")
def test_the_second_gpu_while_the_first_is_current():
    a, b = tensor(128, 64).to("cuda:1"), tensor(64, 128, seed=1).to("cuda:1")
    d = jg.matmul(a, b)
    assert d.device == a.device and torch.cuda.current_device() == 0
    assert_exact(d, a, b)


def test_the_current_stream_and_a_named_one():
    a, b = tensor(512, 512), tensor(512, 512, seed=1)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    for stream in (None, side, side.cuda_stream):
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)  # what comes on another stream would be done before
            late = a.clone().mul_(2)
            d = jg.matmul(late, b, stream=stream)
        side.synchronize()
        assert_exact(d, 2 * a, b)


def test_graphs_capture_it():
    a, b = tensor(256, 256), tensor(256, 256, seed=1)
    d = torch.empty(256, 256, device="cuda", dtype=torch.bfloat16)
    weight = tensor(64, 4096, seed=2)  # few rows and a long k: this one takes a workspace
    x = tensor(16, 4096, seed=3)
    jg.matmul(a, b, out=d)
    jg.torch.linear(x, weight)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        jg.matmul(a, b, out=d)
        e = jg.matmul(d, a)
        f = jg.torch.linear(x, weight)
    for seed in (4, 5):
        a.copy_(tensor(256, 256, seed=seed) / 8)
        x.copy_(tensor(16, 4096, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(d, (a.double() @ b.double()).bfloat16(), rtol=2**-7, atol=0)
        torch.testing.assert_close(e, (d.double() @ a.double()).bfloat16(), rtol=2**-6, atol=2**-6)
        torch.testing.assert_close(f, (x.double() @ weight.double().T).bfloat16(), rtol=2**-7, atol=0)


def test_a_kernel():
    a, b = tensor(256, 128), tensor(192, 128, seed=1)
    k = jg.kernel("bf16 tn 256 192 128")
    out = torch.empty(256, 192, device="cuda", dtype=torch.bfloat16)
    assert k(a, b.T, out=out) is out and k.device == "cuda:0"
    assert_exact(out, a, b.T)
    assert k.cubin[:4] == b"\x7fELF" and "Why this one" in k.explain()
    for x, y, words in (
        (a.cpu(), b.T, "a .*host memory.* cuda:0"),
        (a, b.T.cpu(), "b .*host memory.* cuda:0"),
    ):
        with pytest.raises(jg.OperandError, match=words):
            k(x, y)
    with pytest.raises(jg.OperandError, match="workspace lies in host memory"):
        k(a, b.T, workspace=torch.empty(1024, dtype=torch.uint8))
    with pytest.raises(jg.OperandError, match="a .*cuda:0.* emulator:sm_80"):
        jg.kernel("bf16 tn 256 192 128", device="emulator:sm_80")(a, b.T)


def test_numpy_goes_there_and_back_when_asked():
    np = pytest.importorskip("numpy")
    a = np.arange(12 * 8, dtype="float32").reshape(12, 8)[2:, 1:]
    b = np.ones((7, 5), "float32")
    out = np.full((10, 9), 7, "float32")
    jg.matmul(a, b, out=out[:, 2:7], device="cuda")
    np.testing.assert_array_equal(out[:, 2:7], a @ b)
    assert (out[:, :2] == 7).all() and (out[:, 7:] == 7).all()
    with pytest.raises(jg.OperandError, match="the arrays lie in host memory"):
        jg.matmul(a, b)
    whole = np.zeros((6, 9), "float32")
    with pytest.raises(jg.SpecError, match=r"D \[0x\w+, 0x\w+\) overlaps A"):
        jg.matmul(whole[:, :5], np.ones((5, 4), "float32"), out=whole[:, 4:8], device="cuda")


def test_what_lies_between_the_rows_of_an_array_in_host_memory_is_not_written():
    """Two threads fill two halves of one array: neither writes what the other has."""
    np = pytest.importorskip("numpy")
    m, n = 4096, 64
    a, b = np.ones((m, 256), "float32"), np.ones((256, n), "float32")
    for _ in range(4):
        by_row, by_column = np.zeros((m, 2 * n), "float32"), np.zeros((n, 2 * m), "float32")
        halves = by_row[:, :n], by_row[:, n:], by_column[:, :m].T, by_column[:, m:].T
        threads = [
            threading.Thread(target=jg.matmul, args=(a, b), kwargs={"out": out, "device": "cuda"}) for out in halves
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (by_row == 256).all() and (by_column == 256).all()


def test_sixteen_threads():
    problems = [(tensor(64 + 8 * i, 128, seed=i), tensor(128, 72, seed=i + 1)) for i in range(16)]
    results = [None] * 16

    def multiply(i):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(20):
                results[i] = jg.matmul(*problems[i])
            torch.cuda.current_stream().synchronize()

    torch.cuda.synchronize()
    threads = [threading.Thread(target=multiply, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (a, b), d in zip(problems, results, strict=True):
        assert_exact(d, a, b)


def test_memory_comes_from_torch():
    a, b = tensor(1024, 1024), tensor(1024, 1024, seed=1)
    jg.matmul(a, b)
    before = torch.cuda.memory_allocated()
    d = jg.matmul(a, b)
    assert torch.cuda.memory_allocated() - before == d.numel() * 2
    del d
    assert torch.cuda.memory_allocated() == before


def test_operands_freed_right_after_the_call():
    """Their memory is used again in the stream's order: after the product, which begins after the call returns."""
    a, b = tensor(1024, 1024), tensor(1024, 1024, seed=1)
    expected = jg.matmul(a, b)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()  # else other free memory might be taken before theirs
    for _ in range(3):
        torch.cuda._sleep(50_000_000)
        x, y = a.clone(), b.clone()
        places = {x.data_ptr(), y.data_ptr()}
        d = jg.matmul(x, y)
        assert not torch.cuda.current_stream().query()  # else the product may have ended
        del x, y
        overwritten = [torch.full_like(a, torch.nan) for _ in range(32)]
        assert places <= {z.data_ptr() for z in overwritten}
        torch.testing.assert_close(d, expected, rtol=0, atol=0)
        del overwritten


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("m, n, k", [(0, 64, 32), (64, 0, 32), (64, 48, 0), (0, 0, 0)])
def test_no_elements(dtype, m, n, k):
    a, b = tensor(m, k, dtype=dtype), tensor(k, n, dtype=dtype, seed=1)
    assert_exact(jg.matmul(a, b), a, b)
    c = tensor(m, n, dtype=dtype, seed=2)
    assert_exact(jg.matmul(a, b, c=c, beta=2), a, b, plus=2 * c.double())
    out = torch.full((m, n), torch.nan, device="cuda", dtype=dtype)
    assert_exact(jg.matmul(a, b, out=out), a, b)
    x, w = tensor(3, m, k, dtype=dtype).requires_grad_(), tensor(n, k, dtype=dtype, seed=1).requires_grad_()
    jg.torch.linear(x, w).sum().backward()
    theirs = x.detach().clone().requires_grad_(), w.detach().clone().requires_grad_()
    torch.nn.functional.linear(*theirs).sum().backward()
    torch.testing.assert_close(x.grad, theirs[0].grad)
    torch.testing.assert_close(w.grad, theirs[1].grad)


def _in_child(kernel, a, b, answers):
    for call in (lambda: kernel(a, b), lambda: jg.matmul(a, b), lambda: jg.kernel("bf16 tt 64 64 64")):
        try:
            call()
        except Exception as error:
            answers.put((type(error).__name__, str(error)))
        else:
            answers.put(("none", "it was launched"))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_told_that_cuda_serves_none():
    a, b = tensor(64, 64), tensor(64, 64, seed=1)
    k = jg.kernel("bf16 tt 64 64 64")
    expected = k(a, b)
    torch.cuda.synchronize()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_child, args=(k, a, b, answers))
    child.start()
    of_kernel, of_matmul, of_new_kernel = (answers.get(timeout=60) for _ in range(3))
    child.join(60)
    assert child.exitcode == 0
    assert of_kernel[0] == "Error" and "after a fork" in of_kernel[1]
    for name, text in (of_matmul, of_new_kernel):
        assert name == "CudaError" and "is a fork of one that had used CUDA" in text and "spawn" in text
    for d in (k(a, b), jg.matmul(a, b)):  # the parent goes on
        torch.testing.assert_close(d, expected, rtol=0, atol=0)


class TestCupy:
    def arrays(self):
        cupy = pytest.importorskip("cupy")
        a = cupy.arange(96 * 64, dtype="float16").reshape(96, 64) % 5
        b = cupy.arange(64 * 80, dtype="float16").reshape(64, 80) % 7
        return cupy, a, b

    def test_arrays(self):
        cupy, a, b = self.arrays()
        for stream in (None, cupy.cuda.Stream(non_blocking=True)):
            cupy.cuda.Device().synchronize()
            d = jg.matmul(a, b, stream=stream)
            cupy.cuda.Device().synchronize()
            assert isinstance(d, cupy.ndarray) and d.dtype == cupy.float16
            expected = (a.astype("float64") @ b.astype("float64")).astype("float16")
            assert (d == expected).all()
            d = jg.matmul(b.T, a.T, stream=stream)
            cupy.cuda.Device().synchronize()
            assert (d == expected.T).all()

    def test_on_its_current_stream(self):
        cupy, a, b = self.arrays()
        with cupy.cuda.Stream(non_blocking=True) as stream:
            d = jg.matmul(a * 2, b)
            stream.synchronize()
            assert (d == (a.astype("float64") @ b.astype("float64") * 2).astype("float16")).all()

    def test_a_raw_module_launches_what_launch_info_says(self, tmp_path):
        cupy, a, b = self.arrays()
        np = pytest.importorskip("numpy")
        k = jg.kernel("f16 tt 96 80 64", family="mma_multistage")
        cubin = tmp_path / "kernel.cubin"
        cubin.write_bytes(k.cubin)
        module = cupy.RawModule(path=str(cubin))
        out = cupy.zeros((96, 80), "float16")
        workspace = cupy.zeros(max(k.workspace, 1), "int8")
        packed = k.pack_arguments(a, b, out=out, workspace=workspace if k.workspace else None)
        for launch, arguments in zip(k.launch_info, packed, strict=True):
            function = module.get_function(launch["function"])
            function.max_dynamic_shared_size_bytes = launch["shared_bytes"]
            struct = np.frombuffer(arguments, f"V{len(arguments)}")  # one element: by value
            function(launch["grid"], launch["block"], (struct,), shared_mem=launch["shared_bytes"])
        assert (out == jg.matmul(a, b)).all()


def test_the_cuda_array_interface():
    class Exporter:
        def __init__(self, tensor):
            self.__cuda_array_interface__ = tensor.__cuda_array_interface__

    a, b = tensor(32, 16, dtype=torch.float16), tensor(24, 16, dtype=torch.float16, seed=1)
    out = torch.empty(32, 24, device="cuda", dtype=torch.float16)
    torch.cuda.synchronize()
    jg.matmul(Exporter(a), Exporter(b.T), out=out)
    torch.cuda.synchronize()
    assert_exact(out, a, b.T)
    with pytest.raises(jg.OperandError, match="a is of type <f8"):
        jg.matmul(Exporter(a.double()), b.T, out=out)


class TestJax:
    @pytest.fixture(autouse=True)
    def jax(self, monkeypatch):
        monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        jax = pytest.importorskip("jax")
        if jax.default_backend() != "gpu":
            pytest.skip("JAX has no GPU")
        return jax

    def arrays(self, jax, dtype, m=96, n=80, k=64):
        key = jax.random.key(0)
        draw = lambda *shape: jax.random.randint(key, shape, -3, 4).astype(dtype)  # noqa: E731
        return draw(m, k), draw(k, n), draw(m, n)

    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    @pytest.mark.parametrize("m, n, k", [(96, 80, 64), (33, 17, 0), (0, 80, 64), (16, 64, 4096)])
    def test_the_result_is_a_new_array_there(self, jax, dtype, m, n, k):
        np = pytest.importorskip("numpy")
        a, b, c = self.arrays(jax, dtype, m, n, k)
        product = np.asarray(a, "float64") @ np.asarray(b, "float64")
        cases = ({}, 0), ({"c": c, "beta": 2}, 2 * c), ({"c": c[:1]}, c[:1]), ({"c": c[:, :1]}, c[:, :1])
        for options, plus in cases:
            if m == 0 and "c" in options and c[:1].size == 0:
                continue
            d = jg.matmul(a, b, **options)
            assert isinstance(d, jax.Array) and d.dtype == dtype and d.devices() == a.devices()
            expected = jax.numpy.asarray(product + np.asarray(plus, "float64"), "float32").astype(dtype)
            np.testing.assert_array_equal(np.asarray(d, "float64"), np.asarray(expected, "float64"))

    def test_none_is_written(self, jax):
        a, b, c = self.arrays(jax, "float32")
        before = jax.numpy.array(c)
        with pytest.raises(jg.OperandError, match="immutable"):
            jg.matmul(a, b, out=c)
        assert (c == before).all()
        with pytest.raises(jg.OperandError, match="tracer"):
            jax.jit(lambda x, y: jg.matmul(x, y))(a, b)

    def test_memory_is_used_again_when_the_product_has_ended(self, jax):
        """Operands are dropped at once, and JAX's own streams write what they free; results are read by JAX at once."""
        jnp = jax.numpy
        one = jnp.ones((2048, 2048), "bfloat16")
        for i in range(1, 9):
            x, y = one * i, one + 0
            d = jg.matmul(x, y)
            del x, y
            others = [jnp.full((2048, 2048), jnp.nan, "bfloat16") for _ in range(4)]
            assert (d + 0 == 2048 * i).all()
            del others

    def test_memory_is_given_back(self, jax):
        a = jax.numpy.ones((4096, 4096), "float32")
        jg.matmul(a, a).block_until_ready()
        before = torch.cuda.mem_get_info()[0]
        for _ in range(50):  # 64 MiB each
            d = jg.matmul(a, a)
        del d
        assert before - torch.cuda.mem_get_info()[0] < 512 << 20

    def test_beside_a_tensor_of_torch(self, jax):
        a, b = jax.numpy.ones((32, 16), "bfloat16"), jax.numpy.ones((16, 24), "bfloat16")
        out = torch.empty(32, 24, device="cuda", dtype=torch.bfloat16)
        jg.matmul(a, b, out=out)
        assert (out == 16).all()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):  # which waits for what JAX still does to b
            d = jg.matmul(torch.ones(32, 16, device="cuda", dtype=torch.bfloat16), b * 2)
        side.synchronize()
        assert isinstance(d, torch.Tensor) and (d == 32).all()


def test_a_written_tensor_is_known_to_be_written():
    a, b, saved = tensor(64, 64), tensor(64, 64, seed=1), tensor(64, 64, seed=2)
    x = torch.ones_like(saved, requires_grad=True)
    y = (x * saved).sum()
    jg.matmul(a, b, out=saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_every_c_that_torch_would_repeat():
    a, b, whole = tensor(96, 64), tensor(64, 80, seed=1), tensor(192, 160, seed=2)
    side = torch.cuda.Stream()
    for c in (whole[0, 0], whole[:1, :1], whole[:96, :1], whole[0, ::2][:80], whole[::2, ::2], whole.T[:96, :80]):
        for out in (None, torch.empty(80, 96, device="cuda", dtype=torch.bfloat16).T):
            assert_exact(jg.matmul(a, b, c=c, out=out), a, b, plus=c.double())
        with pytest.raises(jg.OperandError, match="another stream"):
            jg.matmul(a, b, c=c, stream=side)


# ---- models ----------------------------------------------------------------------------------------------------------


def test_a_transformer_learns_the_same():
    torch.manual_seed(0)
    model = Transformer(width=256, vocabulary=512).cuda()
    replaced = copy.deepcopy(model)
    assert len(jg.torch.replace_linear(replaced)) == 5
    tokens = torch.randint(0, 512, (8, 129), device="cuda")
    expected = losses(model, tokens, rate=0.1, half=True)
    assert losses(replaced, tokens, rate=0.1, half=True) == pytest.approx(expected, rel=2**-7)  # bf16 has eight bits


def milliseconds(model, tokens, times=20):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(times):
        model(tokens)
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - begin) / times


def test_a_transformer_is_as_fast():
    """Rounds of both by turns, so that clocks and other work are the same for both."""
    torch.manual_seed(0)
    model = Transformer(width=2048, vocabulary=8192).cuda().bfloat16().eval()
    replaced = copy.deepcopy(model)
    assert len(jg.torch.replace_linear(replaced)) == 5
    tokens = torch.randint(0, 8192, (8, 512), device="cuda")
    with torch.no_grad():
        torch.testing.assert_close(replaced(tokens), model(tokens), rtol=2**-5, atol=2**-5)
        for warmed in (model, replaced):
            milliseconds(warmed, tokens)
        for _ in range(4):  # other work on the machine may slow down one of both
            rounds = [(milliseconds(replaced, tokens), milliseconds(model, tokens)) for _ in range(11)]
            ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
            if ours <= 1.05 * theirs:
                break
    assert ours <= 1.05 * theirs, f"{ours:.3f} ms, torch {theirs:.3f} ms"


@pytest.mark.filterwarnings("ignore")
def test_compiled_and_captured():
    torch.manual_seed(0)
    model = Transformer(width=256, vocabulary=512).cuda().bfloat16().eval()
    jg.torch.replace_linear(model)
    tokens = torch.randint(0, 512, (8, 128), device="cuda")
    with torch.no_grad():
        expected = model(tokens)
        compiled = torch.compile(model, mode="reduce-overhead", fullgraph=True)
        for _ in range(3):
            torch.testing.assert_close(compiled(tokens).clone(), expected, rtol=2**-5, atol=2**-5)


class Llama(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = torch.nn.Linear(512, 1408, bias=False), torch.nn.Linear(512, 1408, bias=False)
        self.down, self.act = torch.nn.Linear(1408, 512, bias=False), torch.nn.SiLU()

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


def vit():
    return torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512))


def results_of(model, x, run=None):
    """The result and all gradients that there are."""
    x = x.detach().requires_grad_()
    d = (model if run is None else run)(x)
    d.backward(torch.ones_like(d))
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    return [d.detach(), x.grad, *gradients]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [Llama, vit])
@pytest.mark.parametrize("rows", [1, 100, 1024])
def test_fused_modules(kind, rows):
    """Eager, compiled and captured, with errors as PyTorch's."""
    torch.manual_seed(0)
    theirs = kind().cuda().bfloat16()
    ours, exact = copy.deepcopy(theirs), copy.deepcopy(theirs).double()
    assert jg.torch.replace_linear(ours).fused
    x = torch.randn(rows, 512, device="cuda", dtype=torch.bfloat16)

    def errors(model, run=None):
        return [((d - e).norm() / e.norm()).item() for d, e in zip(results_of(model, x, run), expected, strict=True)]

    expected = results_of(exact, x.double())
    allowed = [1.25 * error + 1e-3 for error in errors(theirs)]
    torch._dynamo.reset()
    for run in (ours, torch.compile(ours, fullgraph=True), torch.compile(ours, backend="aot_eager", fullgraph=True)):
        for error, most in zip(errors(ours, run), allowed, strict=True):
            assert error <= most
    with torch.no_grad():
        want = ours(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            d = ours(x)
        graph.replay()
        torch.testing.assert_close(d, want, rtol=0, atol=0)


def test_the_operator_keeps_its_promises():
    a, b = tensor(64, 32).requires_grad_(), tensor(48, 32, seed=1).requires_grad_()
    library.opcheck(torch.ops.jitgemm.matmul.default, (a, b.mT, None))
