#pragma once

#include "python/src/python.hpp"
#include "python/src/session.hpp"

#include <memory>

namespace jitgemm::python {

/// The type jitgemm._core.Kernel, whose subclass in Python is jitgemm.Kernel.
[[nodiscard]] Ref make_kernel_type();

/// A Kernel of a kernel that is there.
[[nodiscard]] Ref new_kernel_object(const std::shared_ptr<Session>& session, GemmKernel kernel);

/// Reads the arguments device, kernel, family and parameters. Null and None ask for nothing.
[[nodiscard]] Selection selection_of(PyObject* device, PyObject* kernel, PyObject* family, PyObject* parameters);

}  // namespace jitgemm::python
