"""The package's own folders, used where the environment names none. The first kernel of a process waits for this."""

import os
import sys

from . import _core


def tool() -> str:
    """The program `jitgemm`, which lies beside the extension. An editable install has Python's files elsewhere."""
    return os.path.join(os.path.dirname(_core.__file__), "bin", "jitgemm")


def wheels() -> str:
    """The first folder that modules are imported from with NVIDIA's NVRTC wheel in it, or ""."""
    libraries = (os.path.join("nvidia", "cu13", "lib"), os.path.join("nvidia", "cuda_nvrtc", "lib"))
    for folder in [folder for folder in sys.path if isinstance(folder, str)]:  # imports ignore all others, too
        if any(os.path.isdir(os.path.join(folder or ".", library)) for library in libraries):
            return folder or "."
    return ""
