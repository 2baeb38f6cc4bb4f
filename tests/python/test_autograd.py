"""Autograd knows what a launch has written; what it may not write is refused. Against torch.mm(..., out=...)."""

from __future__ import annotations

import jitgemm as jg
import pytest

torch = pytest.importorskip("torch", minversion="2.6")

EMULATOR = "emulator:sm_80"
A, B = torch.randint(-3, 4, (6, 5)).float(), torch.randint(-3, 4, (5, 4)).float()


def kernel(text="f32 tt 6 4 5", **more):
    return jg.kernel(text, device=EMULATOR, **more)


def in_no_grad(out):
    with torch.no_grad():
        jg.matmul(A, B, out=out, device=EMULATOR)


WRITES = {
    "matmul": lambda out: jg.matmul(A, B, out=out, device=EMULATOR),
    "a view": lambda out: jg.matmul(A[:3], B[:, :2], out=out[2:5, 1:3], device=EMULATOR),
    "an alias without gradients": lambda out: jg.matmul(A, B, out=out.detach(), device=EMULATOR),
    "accumulate": lambda out: jg.matmul(A, B, out=out, accumulate=True, device=EMULATOR),
    "c is out": lambda out: jg.matmul(A, B, out=out, c=out, device=EMULATOR),
    "no_grad": in_no_grad,
    "a kernel": lambda out: kernel()(A, B, out=out),
    "a kernel of a tensor of one dimension": lambda out: jg.matmul(A, B[:, 0], out=out[:, 0], device=EMULATOR),
    "no multiplication": lambda out: jg.matmul(A[:, :0], B[:0], out=out, device=EMULATOR),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_tensor_that_autograd_keeps_is_known_to_be_written(write):
    x, saved = torch.ones(6, 4, requires_grad=True), torch.ones(6, 4)
    y = (x * saved).sum()
    version = saved._version
    write(saved)
    assert saved._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_workspace_is_known_to_be_written():
    splits = kernel("f32 tt 32 32 4096", param="split_k=4")
    if splits.workspace == 0:
        pytest.skip("this kernel takes no workspace")
    room = torch.zeros(splits.workspace, dtype=torch.uint8)
    splits(torch.ones(32, 4096), torch.ones(4096, 32), workspace=room)
    assert room._version == 1


def test_what_is_not_written_keeps_its_version():
    a, b, c, out = A.clone(), B.clone(), torch.ones(6, 4), torch.zeros(6, 4)
    jg.matmul(a, b, c=c, device=EMULATOR)
    for refused in ({"b": A}, {"b": B.double()}, {"stream": "none"}, {"c": c[:, :3]}):
        with pytest.raises(jg.OperandError):
            jg.matmul(a, refused.pop("b", b), out=out, device=EMULATOR, **refused)
    assert (a._version, b._version, c._version, out._version) == (0, 0, 0, 0) and not out.any()


def test_inference_tensors_are_written_in_inference_mode_alone():
    with torch.inference_mode():
        out, expected = torch.zeros(6, 4), A @ B
        torch.testing.assert_close(jg.matmul(A, B, out=out, device=EMULATOR), expected)
        out.zero_()
        kernel()(A, B, out=out)
        torch.testing.assert_close(out, expected)
        normal = torch.zeros(0)
        out.zero_()
    with pytest.raises(RuntimeError, match="[Ii]nference"):
        torch.mm(A, B, out=torch.inference_mode()(torch.zeros)(6, 4))
    for call in (
        lambda: jg.matmul(A, B, out=out, device=EMULATOR),
        lambda: jg.matmul(A, B, out=out[:], accumulate=True, device=EMULATOR),
        lambda: kernel()(A, B, out=out),
        lambda: jg.matmul(A[:0], B, out=normal.view(0, 4), device=EMULATOR),
    ):
        with pytest.raises(jg.OperandError, match="out was made in inference mode"):
            call()
    assert not out.any()
    jg.matmul(out.T, out, device=EMULATOR)  # it is read anywhere


def test_a_normal_tensor_is_written_in_inference_mode():
    out = torch.zeros(6, 4)
    version = out._version
    with torch.inference_mode():
        jg.matmul(A, B, out=out, device=EMULATOR)
    torch.testing.assert_close(out, A @ B)
    assert out._version > version


def test_an_out_that_requires_grad_is_refused_as_torch_does():
    leaf = torch.zeros(6, 4, requires_grad=True)
    for out in (leaf, leaf * 1, (leaf * 1)[:]):
        with pytest.raises(RuntimeError, match="out=... arguments don't support automatic differentiation"):
            torch.mm(A, B, out=out)
        with pytest.raises(jg.OperandError, match="out requires grad"):
            jg.matmul(A, B, out=out, device=EMULATOR)
        with pytest.raises(jg.OperandError, match="out requires grad"):
            kernel()(A, B, out=out)
    with torch.no_grad():
        torch.testing.assert_close(jg.matmul(A, B, out=leaf, device=EMULATOR), A @ B)
    assert leaf._version == 1


# ---- factors ---------------------------------------------------------------------------------------------------------


def factors(value):
    return ({"alpha": value}, {"c": torch.ones(6, 4), "beta": value})


def test_a_factor_whose_gradient_would_be_lost_is_refused():
    for words in factors(torch.tensor(2.0, requires_grad=True)):
        for product in (jg.matmul, kernel("gemm-v2 m=6 n=4 k=5 a=f32 layout=tt c=f32")):
            more = {"device": EMULATOR} if product is jg.matmul else {}
            with pytest.raises(jg.OperandError, match="(alpha|beta) requires grad"):
                product(A, B, **words, **more)
            with torch.no_grad():
                expected = A @ B * (2 if "alpha" in words else 1) + (2 if "beta" in words else 0)
                torch.testing.assert_close(product(A, B, **words, **more), expected)


def test_a_factor_whose_forward_derivative_would_be_lost_is_refused():
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        for words in factors(dual):
            with pytest.raises(jg.OperandError, match="(alpha|beta) has a tangent"):
                jg.matmul(A, B, **words, device=EMULATOR)


def test_a_factor_of_no_gradient_may_be_a_tensor():
    for value in (torch.tensor(2.0), torch.tensor([[2]]), torch.tensor(2.0, requires_grad=True).detach()):
        torch.testing.assert_close(jg.matmul(A, B, alpha=value, device=EMULATOR), 2 * (A @ B))


def test_a_tensor_that_raises_when_it_is_asked_is_refused_as_an_operand():
    for lazy in (torch.nn.UninitializedParameter(requires_grad=False), torch.nn.UninitializedBuffer()):
        with pytest.raises(jg.OperandError, match="b can't be handed over by its library: .*uninitialized"):
            jg.matmul(A, lazy, device=EMULATOR)
