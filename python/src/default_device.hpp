#pragma once

#include "python/src/python.hpp"

#include <string>

namespace jitgemm::python {

/// A device's name as its parser writes it, of a str or of what reads as one (torch.device). Throws SpecError for what
/// names none; TypeError of a number.
[[nodiscard]] std::string device_word(PyObject* device);

/// The device of calls that name none, a str: that of the innermost `with jitgemm.device(...)`, else that of
/// set_device, else what JITGEMM_DEVICE named when it was first asked for. Nothing where nobody named one.
[[nodiscard]] Ref default_device();

/// jitgemm.set_device. None: JITGEMM_DEVICE, which is read again.
void set_default_device(PyObject* device);
/// Blocks of `with` are looked at from now on: `get` answers with None, or a tuple that begins with the device.
void follow_blocks(PyObject* get);

}  // namespace jitgemm::python
