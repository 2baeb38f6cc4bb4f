"""jitgemm.torch.syrk: values, gradients of first and second order, and calls that somebody observes."""

import pytest

import jitgemm as jg

torch = pytest.importorskip("torch")

EMULATOR = "emulator:sm_90a"


def syrk(a, **more):
    return jg.torch.syrk(a, device=EMULATOR, **more)


def integers(*shape, dtype=torch.float16):
    return torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(1)).to(dtype)


@pytest.mark.parametrize("shape", [(70, 40), (3, 40, 24), (2, 2, 16, 8)])
def test_the_product_and_its_gradient(shape):
    a = integers(*shape).requires_grad_()
    d = syrk(a)
    assert torch.equal(d, d.mT)
    assert torch.equal(d.detach().double(), a.detach().double() @ a.detach().double().mT)
    weight = integers(*d.shape)
    (d * weight).sum().backward()
    wide = a.detach().double().requires_grad_()
    ((wide @ wide.mT) * weight.double()).sum().backward()
    assert torch.equal(a.grad.double(), wide.grad)


def test_gradients_of_second_order():
    a = integers(8, 6, dtype=torch.float32).requires_grad_()
    (first,) = torch.autograd.grad(syrk(a).square().sum(), a, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), a)
    wide = a.detach().double().requires_grad_()
    (of_wide,) = torch.autograd.grad((wide @ wide.mT).square().sum(), wide, create_graph=True)
    (second_of_wide,) = torch.autograd.grad(of_wide.sum(), wide)
    torch.testing.assert_close(second.double(), second_of_wide)


def test_who_observes_sees_the_full_product():
    a = integers(3, 24, 16)
    full = a.double() @ a.double().mT
    assert torch.equal(torch.func.vmap(syrk)(a).double(), full)
    tangent = integers(24, 16)
    value, moved = torch.func.jvp(syrk, (a[0],), (tangent,))
    assert torch.equal(value.double(), full[0])
    assert torch.equal(moved.double(), tangent.double() @ a[0].double().mT + a[0].double() @ tangent.double().mT)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert syrk(integers(24, 16, dtype=torch.float32)).dtype == torch.bfloat16


def test_what_is_refused():
    with pytest.raises((jg.OperandError, RuntimeError, ValueError)):
        syrk(integers(5))
