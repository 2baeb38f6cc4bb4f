"""Arrays whose library has no exchange interface in C: numpy, CuPy, JAX, older PyTorch, numba."""

from __future__ import annotations

import sys
from importlib import import_module
from math import prod
from operator import index
from typing import Any, NamedTuple

from . import _core
from ._errors import Error, OperandError

_LEGACY_STREAM = 1  # what DLPack and the CUDA array interface call the legacy default stream
_MAX_DLPACK = (1, 1)


class Description(NamedTuple):
    """Facts of an array that a launch needs. The extension reads the fields by their place."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    type: str
    item: int  # bytes of an element
    gpu: int  # -1: host memory
    read_only: bool
    stream: int  # the library's current one, 0: the legacy default one
    library: str  # "torch", "jax", or "" for all others
    unordered: bool  # on a GPU, of a library that may use the memory again once the call has returned
    keeper: Any  # what must live as long as the call


def describe(x: Any, name: str, stream: Any) -> Description:
    """Of the array that is the argument `name`; nothing is copied. `stream` is the caller's, or None.

    Whatever the array's library raises, or answers against the rules of its own interface, is an OperandError.
    """
    try:
        return _described(x, name, stream)
    except (Error, MemoryError, RecursionError):
        raise
    except Exception as error:
        said = str(error).partition("\n")[0]
        text = f"{_core.type_name(error)}: {said}" if said else _core.type_name(error)
        raise _refusal(name, f"of type {_core.type_name(x)} can't be handed over by its library: {text}") from error


def _described(x: Any, name: str, stream: Any) -> Description:
    module = type(x).__module__.partition(".")[0]
    if _is_tensor(x):
        return _of_torch(x, name)
    if module in _JAX:
        _check_jax(x, name)
    if hasattr(x, "__array_interface__"):
        return _of_numpy(x, name)
    if hasattr(x, "__dlpack__"):
        return _of_dlpack(x, name, module, stream)
    if hasattr(x, "__cuda_array_interface__"):
        return _of_cuda_interface(x, name)
    if type(x).__name__ == "PyCapsule":
        raise _refusal(name, "is a capsule: pass the array that made it")
    raise _refusal(
        name,
        f"is of type {_core.type_name(x)}: an array of numpy, PyTorch, CuPy or JAX is expected, "
        "or one that has __dlpack__ or __cuda_array_interface__",
    )


def _is_tensor(x: Any) -> bool:
    return isinstance(x, getattr(sys.modules.get("torch"), "Tensor", ()))


def empty(like: Any, shape: tuple[int, ...], type_: str) -> Any:
    """A new row-major array of the same library in the same place, to be written.

    JAX's arrays are immutable, so it gets memory, which hand_over() turns into an array.
    """
    module = type(like).__module__.partition(".")[0]
    if _is_tensor(like):
        return like.new_empty(shape, dtype=getattr(sys.modules["torch"], _TORCH_TYPES[type_]))
    if module == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype=_numpy_type(type_))
    if module in _JAX and _is_on_gpu(like) and prod(shape) > 0:
        return _GpuMemory(like.__dlpack_device__()[1], shape, type_)
    if module in _JAX or hasattr(like, "__array_interface__"):
        return sys.modules["numpy"].empty(shape, dtype=_numpy_type(type_))
    raise _refusal("out", f"must be given: no array of {_core.type_name(like)} can be made here")


def hand_over(made: Any, like: Any) -> Any:
    """The JAX array for the caller, on `like`'s device, of what empty() made. Nobody else has seen this memory."""
    jax = sys.modules["jax"]
    if isinstance(made, _GpuMemory):
        return import_module("jax.dlpack").from_dlpack(made)
    (device,) = like.devices()
    return jax.device_put(made, device)


def addresses(like: Any, values: tuple[int, ...]) -> Any:
    """An array of these addresses on the GPU of `like`, filled in the current stream of its library."""
    if _is_tensor(like):
        torch = sys.modules["torch"]
        return torch.tensor(values, dtype=torch.int64).pin_memory().to(like.device, non_blocking=True)
    if type(like).__module__.partition(".")[0] == "cupy":
        with like.device:
            return sys.modules["cupy"].asarray(values, dtype="int64")
    raise _refusal("a[0]", f"is of type {_core.type_name(like)}: on a GPU, lists hold arrays of PyTorch or CuPy")


def repeated(c: Any, shape: tuple[int, ...], by_column: bool) -> Any:
    """A copy of c by its own library, repeated to `shape`: row-major, or with contiguous columns.

    Where `shape` has 1 and c more, one element of c stands for all.
    """
    if c.ndim > 0:
        sizes = shape[len(shape) - c.ndim :]
        c = c[tuple(slice(0, 1) if size == 1 else slice(None) for size in sizes)]
    if _is_tensor(c):
        whole = c.expand(shape)
        contiguous = sys.modules["torch"].contiguous_format
        whole = (whole.movedim(-1, 0) if by_column else whole).clone(memory_format=contiguous)
        return whole.movedim(0, -1) if by_column else whole
    module = type(c).__module__.partition(".")[0]
    if module == "cupy":
        with c.device:
            return _repeated(sys.modules["cupy"], c, shape, by_column)
    if module in _JAX and _is_on_gpu(c) and not by_column:
        return import_module("jax.numpy").broadcast_to(c, shape)
    if hasattr(c, "__array_interface__") or (module in _JAX and not _is_on_gpu(c)):
        return _repeated(sys.modules["numpy"], c, shape, by_column)
    raise _refusal(
        "c",
        f"of type {_core.type_name(c)} has a layout that no kernel reads, and it can't be copied here: "
        "give a copy, as np.broadcast_to(c, shape).copy() makes one",
    )


def _repeated(numpy: Any, c: Any, shape: tuple[int, ...], by_column: bool) -> Any:
    whole = numpy.broadcast_to(numpy.asarray(c), shape)
    whole = numpy.array(numpy.moveaxis(whole, -1, 0) if by_column else whole, order="C", copy=True)
    return numpy.moveaxis(whole, 0, -1) if by_column else whole


_NUMPY_TYPES = {"f16": "float16", "f32": "float32", "s8": "int8", "s32": "int32"}
_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
_INTERFACE_TYPES = {"<f2": "f16", "<f4": "f32", "|i1": "s8", "<i4": "s32"}
_TORCH_TYPES = {**_NUMPY_TYPES, **_ML_DTYPES}
_JAX = ("jax", "jaxlib")
_WRITABLE = ("torch", "cupy", "jitgemm")  # of these an old DLPack capsule may be written, though it can't say so
_WRITTEN = ("out", "workspace")  # arguments


def _numpy_type(type_: str) -> Any:
    if type_ in _NUMPY_TYPES:
        return _NUMPY_TYPES[type_]
    try:
        import ml_dtypes
    except ImportError:
        raise _refusal("out_dtype", f"is {type_}: numpy needs the package ml_dtypes for it") from None
    return getattr(ml_dtypes, _ML_DTYPES[type_])


def _refusal(name: str, reason: str) -> OperandError:
    text = f"{name} {reason}"
    return OperandError(f"invalid array: {text}", (text,))


def _of_torch(x: Any, name: str) -> Description:
    torch = sys.modules["torch"]
    if x.requires_grad and torch.is_grad_enabled():
        raise _refusal(name, "requires grad, but this product has no gradient: use jitgemm.torch.matmul")
    if x.is_neg():
        raise _refusal(name, "is a view that negates its elements (is_neg()): pass its resolve_neg()")
    if torch._C._is_tracing() or _records_real_tensors(torch):
        raise _refusal(name, "is traced: the trace would keep this product as a constant")
    if _has_tangent(torch.autograd.forward_ad, x):
        raise _refusal(name, "has a tangent of forward-mode differentiation, which this product would lose")
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
        "torch",
        False,
        None,
    )


def check_factor(x: Any, name: str) -> None:
    """Refuses an alpha or beta whose derivative PyTorch is asked for. Kernels take the bare number."""
    if not _is_tensor(x):
        return
    torch = sys.modules["torch"]
    advice = "give it as float(...), or multiply the product by it afterwards"
    if x.requires_grad and torch.is_grad_enabled():
        raise _refusal(name, f"requires grad, but this product has no gradient: {advice}")
    if _has_tangent(torch.autograd.forward_ad, x):
        raise _refusal(name, f"has a tangent of forward-mode differentiation, which this product would lose: {advice}")


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
        raise _refusal(name, f"has strides of {strides} bytes: they must be multiples of its element size, {item}")
    pointer, read_only = _field(interface, "data", name)
    elements = tuple(stride // item for stride in strides)
    return Description(pointer or 0, shape, elements, type_, item, gpu, bool(read_only), stream, "", False, interface)


def _field(interface: Any, key: str, name: str) -> Any:
    if key not in interface:
        raise _refusal(name, f"has an array interface without '{key}'")
    return interface[key]


def _element(interface: Any, name: str) -> tuple[str, int]:
    """Type and bytes of an element, by the interface's typestr: "<f4"."""
    text = _field(interface, "typestr", name)
    if not isinstance(text, str) or len(text) < 3 or not text[2:].isdecimal() or int(text[2:]) == 0:
        raise _refusal(name, f"has an array interface whose typestr is {text!r}: expected one like '<f4'")
    if text[0] == ">":
        raise _swapped(name, text)
    return _INTERFACE_TYPES.get(text, text), int(text[2:])


def _swapped(name: str, type_: Any) -> OperandError:
    return _refusal(name, f"is of type {type_}, whose bytes are in another order than this machine's")


def _of_numpy(x: Any, name: str) -> Description:
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(x, masked.MaskedArray):
        raise _refusal(
            name, "is masked, and a product ignores the mask: pass its filled() or its data"
        )
    scalar = getattr(sys.modules.get("numpy"), "generic", None)
    if scalar is not None and isinstance(x, scalar):  # its interface points at memory that is gone by now
        array = sys.modules["numpy"].asarray(x)
        return _of_numpy(array, name)._replace(read_only=True, keeper=array)
    interface = x.__array_interface__
    if interface.get("mask") is not None:
        raise _refusal(name, "is masked")
    dtype: Any = getattr(x, "dtype", None)
    if not hasattr(dtype, "isnative"):  # of another library than numpy, whose arrays lie in host memory, too
        return _of_interface(interface, name, *_element(interface, name), -1, 0)
    if not dtype.isnative:
        raise _swapped(name, dtype)
    told = _field(interface, "typestr", name)
    if told != dtype.str:
        raise _refusal(name, f"has the dtype {dtype} ({dtype.str}), and an array interface whose typestr is {told!r}")
    if dtype.itemsize == 0:
        raise _refusal(name, f"is of type {dtype}: kernels take float16, bfloat16 and float32")
    return _of_interface(interface, name, str(dtype), dtype.itemsize, -1, 0)


def _of_cuda_interface(x: Any, name: str) -> Description:
    interface = x.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise _refusal(name, "is masked")
    stream = interface.get("stream")
    if stream is None:
        stream = _LEGACY_STREAM
    elif index(stream) <= 0:
        raise _refusal(name, f"has a __cuda_array_interface__ whose stream is {stream}: it must be None or at least 1")
    described = _of_interface(interface, name, *_element(interface, name), 0, 0 if stream == _LEGACY_STREAM else stream)
    # The interface names no GPU: its libraries work on the current one.
    return described._replace(gpu=_core.current_gpu())


def _of_dlpack(x: Any, name: str, module: str, stream: Any) -> Description:
    device_type, _ = x.__dlpack_device__()
    current = 0
    on_gpu = device_type in (_core.DLPACK_CUDA, _core.DLPACK_MANAGED)
    if on_gpu:
        if module == "cupy":
            current = sys.modules["cupy"].cuda.get_current_stream().ptr
        handle = current if stream is None else _core.stream_handle(stream)
        capsule = _exported(x, handle or _LEGACY_STREAM)
    else:
        capsule = _exported(x, None)
    pointer, shape, strides, type_, item, gpu, read_only = _core.read_capsule(capsule, name)
    if read_only is None:
        read_only = module not in _WRITABLE
        if read_only and name in _WRITTEN:
            raise _refusal(name, "may be read-only: its DLPack capsule has no version and can't say")
    library = "jax" if module in _JAX else ""
    unordered = on_gpu and module != "cupy"
    return Description(
        pointer, shape, strides, type_, item, gpu, read_only, current, library, unordered, capsule
    )


def _is_on_gpu(x: Any) -> bool:
    return bool(x.__dlpack_device__()[0] in (_core.DLPACK_CUDA, _core.DLPACK_MANAGED))


def _check_jax(x: Any, name: str) -> None:
    if any(base.__name__ == "Tracer" for base in type(x).__mro__):
        raise _refusal(
            name,
            f"is a tracer of JAX ({type(x).__name__}) and has no elements, as inside jax.jit, vmap and grad: "
            "call jitgemm outside of them, or in a jax.pure_callback",
        )
    if getattr(x, "is_deleted", bool)():
        raise _refusal(name, "is a deleted JAX array: donating an array to a program deletes it")
    if name in _WRITTEN:
        raise _refusal(name, f"is a JAX array: JAX arrays are immutable: do not pass {name}=")


class _GpuMemory:
    """Memory of ours on a GPU, which a library takes over by DLPack."""

    def __init__(self, gpu: int, shape: tuple[int, ...], type_: str) -> None:
        self._gpu = gpu
        self._capsule = _core.gpu_memory(gpu, shape, type_)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _core.DLPACK_CUDA, self._gpu

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule


def _exported(x: Any, stream: int | None) -> Any:
    """The library lets the stream wait for what it still does to the array."""
    try:
        return x.__dlpack__(stream=stream, max_version=_MAX_DLPACK)
    except Error:  # some are TypeErrors
        raise
    except TypeError:  # of a library that knows no versions
        return x.__dlpack__(stream=stream)
