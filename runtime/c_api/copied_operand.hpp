#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/prepared_operand.hpp"

namespace jitgemm::c_api {

/// Prepares A or B of host memory for a kernel of a GPU or of the emulator. It is copied to the device, and the result
/// keeps this copy where kernels read it. Throws the errors of GemmKernel::prepare_a.
[[nodiscard]] PreparedOperand prepare_copied(const GemmKernel& kernel, Prepared operand, DevicePointer host);

/// Whether a launch takes this operand prepared, and not as an array.
[[nodiscard]] bool is_given_prepared(std::string_view name, const GemmArguments& arguments);

}  // namespace jitgemm::c_api
