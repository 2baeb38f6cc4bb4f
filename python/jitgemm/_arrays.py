"""Arrays whose library has no exchange interface in C: numpy, CuPy, JAX, older PyTorch, numba."""

from __future__ import annotations

import sys
from math import prod
from operator import index
from typing import Any, NamedTuple

from . import _core
from ._errors import Error, OperandError

_LEGACY_STREAM = 1  # what DLPack and the CUDA array interface call the legacy default stream
_MAX_DLPACK = (1, 1)


class Description(NamedTuple):
    """What a launch needs to know of an array. The extension reads the fields by their place."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    type: str
    item: int  # bytes of an element
    gpu: int  # -1: host memory
    read_only: bool
    stream: int  # the library's current one, 0: the legacy default one
    keeper: Any  # what must live as long as the call


def describe(x: Any, name: str, stream: Any) -> Description:
    """Of the array that is the argument `name`; nothing is copied. `stream` is the caller's, or None.

    Whatever the array's library raises, or answers against the rules of its own interface, is an OperandError.
    """
    try:
        return _described(x, name, stream)
    except (Error, MemoryError):
        raise
    except Exception as error:
        said = str(error).partition("\n")[0]
        text = f"{_core.type_name(error)}: {said}" if said else _core.type_name(error)
        raise _refusal(name, f"of type {_core.type_name(x)} can't be handed over by its library: {text}") from error


def _described(x: Any, name: str, stream: Any) -> Description:
    module = type(x).__module__.partition(".")[0]
    if _is_tensor(x):
        return _of_torch(x, name)
    if hasattr(x, "__array_interface__"):
        return _of_numpy(x, name)
    if hasattr(x, "__dlpack__"):
        return _of_dlpack(x, name, module, stream)
    if hasattr(x, "__cuda_array_interface__"):
        return _of_cuda_interface(x, name)
    if type(x).__name__ == "PyCapsule":
        raise _refusal(name, "is a capsule: what is multiplied is the array that hands it out")
    raise _refusal(
        name,
        f"is of type {_core.type_name(x)}: arrays are what speaks DLPack, as those of PyTorch, CuPy and JAX, "
        "numpy's, and what has a __cuda_array_interface__",
    )


def _is_tensor(x: Any) -> bool:
    return isinstance(x, getattr(sys.modules.get("torch"), "Tensor", ()))


def empty(like: Any, shape: tuple[int, ...], type_: str) -> Any:
    """A new row-major array of the same library in the same place."""
    module = type(like).__module__.partition(".")[0]
    if _is_tensor(like):
        return like.new_empty(shape, dtype=getattr(sys.modules["torch"], _TORCH_TYPES[type_]))
    if module == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype=_numpy_type(type_))
    if hasattr(like, "__array_interface__"):
        return sys.modules["numpy"].empty(shape, dtype=_numpy_type(type_))
    raise _refusal("out", f"must be given: no array of {_core.type_name(like)} can be made here")


_NUMPY_TYPES = {"f16": "float16", "f32": "float32", "s8": "int8", "s32": "int32"}
_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
_INTERFACE_TYPES = {"<f2": "f16", "<f4": "f32", "|i1": "s8", "<i4": "s32"}
_TORCH_TYPES = {**_NUMPY_TYPES, **_ML_DTYPES}


def _numpy_type(type_: str) -> Any:
    if type_ in _NUMPY_TYPES:
        return _NUMPY_TYPES[type_]
    import ml_dtypes  # whoever has an array of such a type has it

    return getattr(ml_dtypes, _ML_DTYPES[type_])


def _refusal(name: str, reason: str) -> OperandError:
    text = f"{name} {reason}"
    return OperandError(f"invalid array: {text}", (text,))


def _of_torch(x: Any, name: str) -> Description:
    torch = sys.modules["torch"]
    if x.requires_grad and torch.is_grad_enabled():
        raise _refusal(name, "requires grad, and this product would have none: jitgemm.torch.matmul has")
    if x.is_neg():
        raise _refusal(name, "is a view that negates its elements (is_neg()): resolve_neg() copies it")
    if torch._C._is_tracing() or _records_real_tensors(torch):
        raise _refusal(name, "is traced, and the trace would keep this product's numbers as a constant")
    if _has_tangent(torch.autograd.forward_ad, x):
        raise _refusal(name, "has a tangent of forward-mode differentiation, and this product would have none")
    if x.device.type not in ("cpu", "cuda"):
        raise _refusal(name, f"lies on {x.device}: host memory and CUDA are served")
    on_gpu = x.device.type == "cuda"
    return Description(
        x.data_ptr(),
        tuple(x.shape),
        tuple(x.stride()),
        str(x.dtype).removeprefix("torch."),
        x.element_size(),
        x.device.index if on_gpu else -1,
        False,
        torch.cuda.current_stream(x.device).cuda_stream if on_gpu else 0,
        None,
    )


def _has_tangent(forward_ad: Any, x: Any) -> bool:
    if forward_ad._current_level < 0 or not forward_ad._is_fwd_grad_enabled():
        return False
    return forward_ad.unpack_dual(x).tangent is not None


def _records_real_tensors(torch: Any) -> bool:
    """Whether make_fx writes down what is done with them."""
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY) is not None


def _of_interface(interface: Any, name: str, type_: str, item: int, gpu: int, stream: int) -> Description:
    """Of numpy's and CUDA's array interface, which differ in little. `item`: bytes of an element."""
    shape = tuple(map(index, _field(interface, "shape", name)))
    strides = interface.get("strides")
    if strides is None:
        strides = tuple(item * prod(shape[i + 1 :]) for i in range(len(shape)))
    strides = tuple(map(index, strides))
    if any(stride % item for stride in strides):
        raise _refusal(name, f"has strides of {strides} bytes, no multiples of its elements' {item}")
    pointer, read_only = _field(interface, "data", name)
    elements = tuple(stride // item for stride in strides)
    return Description(pointer or 0, shape, elements, type_, item, gpu, bool(read_only), stream, interface)


def _field(interface: Any, key: str, name: str) -> Any:
    if key not in interface:
        raise _refusal(name, f"has an array interface without '{key}'")
    return interface[key]


def _element(interface: Any, name: str) -> tuple[str, int]:
    """Type and bytes of an element, by the interface's typestr: "<f4"."""
    text = _field(interface, "typestr", name)
    if not isinstance(text, str) or len(text) < 3 or not text[2:].isdecimal() or int(text[2:]) == 0:
        raise _refusal(name, f"has an array interface whose typestr is {text!r}: expected the likes of '<f4'")
    if text[0] == ">":
        raise _swapped(name, text)
    return _INTERFACE_TYPES.get(text, text), int(text[2:])


def _swapped(name: str, type_: Any) -> OperandError:
    return _refusal(name, f"is of type {type_}, whose bytes are in another order than this machine's")


def _of_numpy(x: Any, name: str) -> Description:
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(x, masked.MaskedArray):
        raise _refusal(
            name, "is masked, and a product would not see the mask: filled() and data are arrays without one"
        )
    interface = x.__array_interface__
    if interface.get("mask") is not None:
        raise _refusal(name, "is masked")
    dtype: Any = getattr(x, "dtype", None)
    if not hasattr(dtype, "isnative"):  # of another library than numpy, whose arrays lie in host memory, too
        return _of_interface(interface, name, *_element(interface, name), -1, 0)
    if not dtype.isnative:
        raise _swapped(name, dtype)
    if dtype.itemsize == 0:
        raise _refusal(name, f"is of type {dtype}, which no kernel takes")
    return _of_interface(interface, name, str(dtype), dtype.itemsize, -1, 0)


def _of_cuda_interface(x: Any, name: str) -> Description:
    interface = x.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise _refusal(name, "is masked")
    stream = interface.get("stream")
    if stream is None:
        stream = _LEGACY_STREAM
    elif index(stream) <= 0:
        raise _refusal(name, f"has a __cuda_array_interface__ whose stream is {stream}: None, or a handle from 1")
    described = _of_interface(interface, name, *_element(interface, name), 0, 0 if stream == _LEGACY_STREAM else stream)
    # The interface names no GPU: its libraries work on the current one.
    return described._replace(gpu=_core.current_gpu())


def _of_dlpack(x: Any, name: str, module: str, stream: Any) -> Description:
    device_type, _ = x.__dlpack_device__()
    current = 0
    if device_type in (_core.DLPACK_CUDA, _core.DLPACK_MANAGED):
        if module == "cupy":
            current = sys.modules["cupy"].cuda.get_current_stream().ptr
        handle = current if stream is None else _core.stream_handle(stream)
        capsule = _exported(x, handle or _LEGACY_STREAM)
    else:
        capsule = _exported(x, None)
    return Description(*_core.read_capsule(capsule, name), current, capsule)


def _exported(x: Any, stream: int | None) -> Any:
    """The library lets the stream wait for what it still does to the array."""
    try:
        return x.__dlpack__(stream=stream, max_version=_MAX_DLPACK)
    except TypeError:  # of a library that knows no versions
        return x.__dlpack__(stream=stream)
