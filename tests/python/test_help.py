"""A newcomer's views: help, dir, signatures, star imports, and a kernel's representations."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from html.parser import HTMLParser

import jitgemm as jg
import pytest

EMULATOR = "emulator:sm_80"
PUBLIC = [getattr(jg, name) for name in jg.__all__ if name != "__version__"]

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # as if it were not installed
import jitgemm as jg
"""


def python(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_pytorch_the_package_is_whole():
    said = python(
        WITHOUT_TORCH
        + """
import inspect, pydoc
from unittest import mock
assert not hasattr(jg, "torch") and "torch" not in dir(jg) and "torch" not in jg.__all__
from jitgemm import *
assert matmul is jg.matmul
inspect.getmembers(jg)
mock.create_autospec(jg)
print(len(pydoc.render_doc(jg)))
try:
    jg.torch
except AttributeError as error:
    print(error)
try:
    from jitgemm import torch
except ImportError as error:
    print(error)
"""
    )
    size, attribute, import_ = said.splitlines()
    assert int(size) > 1000 and "PyTorch" in attribute and "torch" in import_


def test_a_star_import_hides_no_builtin_and_no_other_package():
    import builtins

    names = {}
    exec("from jitgemm import *", names)
    assert not {name for name in names if hasattr(builtins, name) and not name.startswith("__")}
    assert "torch" not in names and "matmul" in names
    assert jg.list.__module__ == "jitgemm._verbs"  # still there


def test_dir_shows_what_the_package_offers_alone():
    shown = {name for name in dir(jg) if not name.startswith("__")}
    assert shown - {"torch"} == {*jg.__all__, "list"} - {"__version__"}
    assert all(hasattr(jg, name) for name in shown - {"torch"})


def test_help_of_the_package_and_of_all_in_it():
    page = pydoc.plain(pydoc.render_doc(jg))
    for name in set(jg.__all__) - {"__version__"}:
        assert name in page
    assert jg.__version__ in page
    for thing in PUBLIC:
        assert inspect.getdoc(thing), thing
        pydoc.render_doc(thing)


def test_everything_that_is_called_has_a_signature():
    k = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    for thing in [*PUBLIC, jg.list, k, k.__call__, k.pack_arguments, k.explain, jg.Kernel.__call__]:
        assert inspect.signature(thing) is not None
    assert [*inspect.signature(jg.Kernel).parameters] == ["spec", "device", "kernel", "family", "param", "on_miss"]
    assert inspect.signature(k) == inspect.signature(k.__call__)
    of_call, of_matmul = (set(inspect.signature(of).parameters) for of in (k, jg.matmul))
    assert of_call - of_matmul == {"workspace"}
    assert of_matmul - of_call == {"device", "deterministic", "out_dtype", "on_miss", "epilogue", "sums", "math"}
    assert "strides" in inspect.getdoc(jg.Kernel.__call__)


def test_a_kernel_is_told_in_a_line():
    k = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    assert len(repr(k)) < 140 and "\n" not in repr(k)
    assert k.name in repr(k) and k.device in repr(k) and "6x4x5" in repr(k)
    assert "__init__ was not called" in repr(jg.Kernel.__new__(jg.Kernel))


def test_a_notebook_shows_a_kernel():
    class Page(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.text = [], ""

        def handle_starttag(self, tag, attrs):
            self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            self.text += data

    k = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    page = Page()
    page.feed(k._repr_html_())
    assert not page.open and k.name in page.text and k.source in page.text and k.json["choice_reason"] in page.text
    assert "1 block of" in page.text and "0 per thread" not in page.text  # on the emulator nobody counts registers


def test_documents_have_the_keys_that_their_types_say():
    from jitgemm import _documents

    k = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    listed = jg.list("bf16 tn 64 64 64", gpu="h200", limit=1, why=True)
    for document, type_ in [
        (k.json, _documents.KernelDocument),
        (k.launch_info[0], _documents.LaunchDocument),
        (listed, _documents.ListDocument),
        (listed["spec"], _documents.SpecDocument),
        (listed["candidates"][0], _documents.CandidateDocument),
        (jg.doctor(), _documents.DoctorDocument),
    ]:
        assert set(type_.__required_keys__) <= set(document), type_
        assert set(document) <= {*type_.__annotations__}, type_
