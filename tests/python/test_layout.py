"""jitgemm.layout: the algebra as Python's operators, and pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import jitgemm as jg
import pytest


def test_a_layout_is_a_function():
    a = jg.layout("(8,4):(4,1)")
    assert str(a) == "(8,4):(4,1)" and repr(a) == "Layout('(8,4):(4,1)')"
    assert (a.shape, a.stride, a.size, a.cosize, a.depth, len(a)) == ((8, 4), (4, 1), 32, 32, 1, 2)
    assert a(2, 1) == a((2, 1)) == 9 and a(10) == a(2, 1)
    assert a.table() == [4 * (i % 8) + i // 8 for i in range(32)]
    assert a(2, None).table() == [0, 1, 2, 3] and a(None, 1).shape == (8,)
    assert [*a] == [jg.layout("8:4"), jg.layout("4:1")] and a[-1] == a[1]


def test_made_of_tuples():
    assert jg.layout((8, 4), (4, 1)) == jg.layout("(8,4):(4,1)")
    assert jg.layout((8, 4)) == jg.layout("(8,4):(1,8)")
    assert jg.layout(((2, 4), 4)).shape == ((2, 4), 4)
    assert jg.layout(8, 2).table() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_the_algebra_as_operators():
    a = jg.layout("(8,4):(4,1)")
    b = jg.layout("(4,2):(2,1)")
    composed = a @ b
    assert all(composed(i) == a(b(i)) for i in range(composed.size))
    assert jg.layout("1000:1") / 128 == jg.layout("logical_divide(1000:1, 128:1)")
    assert a * 2 == a.logical_product(2) and (a * 2).size == 64
    inverse = a.right_inverse()
    assert [a(inverse(i)) for i in range(32)] == list(range(32))
    assert jg.layout("(2,(1,6)):(1,(6,2))").coalesce() == jg.layout("12:1")
    assert jg.layout("4:2").complement(24).size * 4 == 24
    assert {a: 1}[jg.layout("(8,4):(4,1)")] == 1


@pytest.mark.parametrize(
    "ask, error",
    [
        (lambda: jg.layout("(8,4):(4"), jg.LayoutError),
        (lambda: jg.layout("(8,4):(4,1,2)"), jg.LayoutError),
        (lambda: jg.layout("8:1")(3, 4), jg.LayoutError),
        (lambda: jg.layout("8:1")[1], IndexError),
        (lambda: jg.layout("8:1").draw("png"), jg.LayoutError),
        (lambda: jg.layout(1.5), TypeError),
        (lambda: jg.layout((200, 200)).draw("svg"), jg.LayoutError),
    ],
)
def test_refused(ask, error):
    with pytest.raises(error):
        ask()


def test_swizzled():
    tile = jg.layout("(8,8):(8,1)")
    swizzled = tile.swizzle(3, 0, 3)
    assert str(swizzled) == "Sw<3,0,3> o 0 o (8,8):(8,1)" and swizzled == jg.layout(repr(swizzled)[8:-2])
    assert (swizzled.shape, swizzled.size, len(swizzled)) == ((8, 8), 64, 2)
    assert [swizzled(row, column) for row in range(8) for column in range(8)] == [
        8 * row + (column ^ row) for row in range(8) for column in range(8)
    ]
    row = swizzled(3, None)
    assert row.table() == [24 + (column ^ 3) for column in range(8)] and row(5) == 24 + (5 ^ 3)
    assert (swizzled / 2).size == 64 and "24" in row.draw()


def test_pictures():
    a = jg.layout("(8,4):(4,1)")
    root = ElementTree.fromstring(a._repr_svg_())
    assert root.tag.endswith("svg")
    texts = {element.text for element in root.iter() if element.text}
    assert {str(value) for value in range(32)} <= texts
    assert "<svg" in a._repr_html_() and "<!DOCTYPE html>" in a.draw("html") and "tikz" in a.draw("latex")
    assert "31" in a.draw()
    assert jg.layout((200, 200))._repr_html_() is None


def test_integers_of_every_kind_and_a_list_that_is_none():
    np = pytest.importorskip("numpy")
    assert jg.layout((np.int64(8), np.int8(4)), (np.uint16(4), 1)) == jg.layout((8, 4), (4, 1))
    assert jg.layout((8, 4))(np.int64(3), np.int32(1)) == 11
    with pytest.raises(TypeError, match=r"\[8, 4\] is of type list.*tuple"):
        jg.layout([8, 4])
    with pytest.raises(TypeError, match="2.5 is of type float"):
        jg.layout((8, 2.5))
