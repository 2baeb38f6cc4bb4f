"""Every public name has a help text, and the stubs agree with the module."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import jitgemm as jg
import pytest
from jitgemm import _core

ROOT = Path(__file__).parents[2]
STUB = ROOT / "python" / "jitgemm" / "_core.pyi"


def public(names):
    return [name for name in names if not name.startswith("_")]


def has_help(thing):
    return bool(inspect.getdoc(thing)) and inspect.getdoc(thing) != inspect.getdoc(object.__init__)


def test_every_public_name_has_a_help_text():
    names = [*public(jg.__all__), "list"]
    assert len(names) > 15
    assert [name for name in names if not has_help(getattr(jg, name))] == []
    for kind in (jg.Kernel, jg.Layout):
        members = [name for cls in kind.__mro__[:-1] for name in public(vars(cls))]
        assert len(members) > 5
        assert [name for name in members if not has_help(inspect.getattr_static(kind, name))] == []


def test_every_public_name_for_torch_has_a_help_text():
    pytest.importorskip("torch", minversion="2.6")
    assert jg.torch.__doc__
    assert [name for name in jg.torch.__all__ if not vars(jg.torch)[name].__doc__] == []


@pytest.mark.parametrize("function", ["matmul", "kernel", "list", "bench", "tune", "record", "warm"])
def test_help_names_every_argument(function):
    thing = getattr(jg, function)
    body = inspect.getdoc(thing)
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    named = [name for name, parameter in inspect.signature(thing).parameters.items() if parameter.kind not in kinds]
    assert [name for name in named if not re.search(rf"\b{name}\b", body)] == []


def test_every_function_of_c_says_what_it_does_and_which_threads_may_call_it():
    header = (ROOT / "include" / "jitgemm" / "jitgemm.h").read_text()
    functions = re.findall(
        r"(/\*(?:(?!\*/).)*\*/)\n(?:typedef void[^;]*;\n)?JG_API [^(]*?\b(jg_\w+)\(", header, re.DOTALL
    )
    assert len(functions) == header.count("\nJG_API ")
    for comment, name in functions:
        assert re.search(r"[Tt]hread-safe|any thread", " ".join(comment.replace("*", " ").split())), name


# ---- stubs -----------------------------------------------------------------------------------------------------------


def of_stub(body):
    """Names → functions (of overloads the first), classes and annotated values."""
    nodes = [node for node in body if not isinstance(node, ast.ImportFrom | ast.Assign)]
    return {getattr(node, "name", None) or node.target.id: node for node in reversed(nodes)}


def overloads(body, name):
    return [node for node in body if getattr(node, "name", None) == name]


def parameters_of(node):
    """(name, default) of a stub's function, without self; the positional ones first, then the keywords."""
    arguments = node.args
    first = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(first) - len(arguments.defaults)) + arguments.defaults
    both = [*zip(first, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return [
        (argument.arg, inspect.Parameter.empty if default is None else ast.literal_eval(default))
        for argument, default in both
        if argument.arg != "self"
    ]


def parameters_of_real(function):
    """Without operands of an epilogue, which have any name."""
    parameters = inspect.signature(function).parameters.items()
    return [(name, p.default) for name, p in parameters if name != "self" and p.kind is not p.VAR_KEYWORD]


def test_the_stub_has_the_names_of_the_module():
    stub = of_stub(ast.parse(STUB.read_text()).body)
    assert sorted(stub) == sorted(public(vars(_core)))
    members = of_stub(stub["Kernel"].body)
    own = set(vars(_core.Kernel)) - {"__doc__", "__module__", "__new__"}
    assert set(members) == own


def test_the_stub_has_the_arguments_of_the_module():
    body = ast.parse(STUB.read_text()).body
    of_kernel = of_stub(body)["Kernel"].body
    assert parameters_of(of_stub(body)["matmul"]) == parameters_of_real(_core.matmul)
    for name in ("__call__", "pack_arguments"):
        assert parameters_of(of_stub(of_kernel)[name]) == parameters_of_real(getattr(_core.Kernel, name))
    assert parameters_of(of_stub(of_kernel)["__init__"]) == parameters_of_real(_core.Kernel)
    for several in (overloads(body, "matmul"), overloads(of_kernel, "__call__")):
        names = [{name for name, _ in parameters_of(overload)} for overload in several]
        assert len(names) > 1 and all(those == names[0] for those in names)


def test_what_a_signature_names_is_taken_and_nothing_else():
    k = jg.kernel("f32 tt 6 4 5", device="emulator:sm_80")
    for function in (jg.matmul, k, jg.Kernel, k.pack_arguments):
        parameters = inspect.signature(function).parameters.values()
        for word in [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]:
            with pytest.raises(Exception) as caught:
                function(**{word: None})
            assert "unexpected keyword" not in str(caught.value), (function, word)
        with pytest.raises(TypeError, match="unexpected keyword"):
            function(**{"nonsense": None})
