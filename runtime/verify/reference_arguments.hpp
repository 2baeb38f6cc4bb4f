#pragma once

#include "runtime/verify/reference.hpp"

#include <cmath>
#include <cstdint>

// The reference kernels' text as the host's compiler reads it: the formulas of HostReference and the structs of
// ReferenceKernels.
namespace jitgemm::device_code {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "runtime/verify/reference_arithmetic.cuh"
#include "runtime/verify/reference_elements.cuh"
#pragma GCC diagnostic pop

}  // namespace jitgemm::device_code

namespace jitgemm {

// The arguments with the device's addresses, without a result.
[[nodiscard]] device_code::FillArguments fill_arguments(const DeviceMatrix& matrix, const Fill& fill);
[[nodiscard]] device_code::CheckArguments check_arguments(const Check& check);
[[nodiscard]] device_code::GuardArguments guard_arguments(const GuardedLines& lines, std::uint8_t pattern);

}  // namespace jitgemm
