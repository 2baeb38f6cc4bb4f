#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "python/src/operand.hpp"
#include "python/src/session.hpp"

#include <memory>

namespace jitgemm::python {

/// The type of Python's jitgemm.Prepared: an operand that a kernel has prepared, and its array.
[[nodiscard]] Ref make_prepared_type();

/// Prepares the array, A or B, for a kernel. Throws OperandError where it does not lie as the kernel's operand does.
[[nodiscard]] Ref new_prepared_object(const std::shared_ptr<Session>& session, const GemmKernel& kernel,
                                      Prepared operand, const Operand& array, PyObject* stream);

/// The array that it was made of, borrowed; null where the object is another.
[[nodiscard]] PyObject* array_of_prepared(PyObject* object);
[[nodiscard]] const PreparedOperand* prepared_of(PyObject* object);

}  // namespace jitgemm::python
