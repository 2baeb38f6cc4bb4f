#pragma once

#include "generator/epilogue/epilogue.hpp"
#include "runtime/device/device.hpp"
#include "runtime/verify/reference.hpp"

#include <vector>

namespace jitgemm {

/// The inputs of a text's results, beside the sums.
struct EpilogueInputs {
    Epilogue epilogue;
    std::vector<DeviceMatrix> operands;  ///< as parts().operands; without data where nothing is read
    std::vector<float> scalars;          ///< as parts().operands; the values of the scalars of the launch
    std::vector<DeviceMatrix> outputs;   ///< as parts().outputs
};

/// Compares each output with what the text makes of the sums, in intervals: `check` gives A, B, D, the bound of the
/// sums, and whether they are exact. An element is right if it lies in its interval, rounded to its type. Sums come
/// from the judge, scaled by the text's scales of blocks of K. All else is computed on the host, but for a text whose D
/// is the scaled sum: that is judged as a product without a text. Results are as parts().outputs.
[[nodiscard]] std::vector<CheckResult> check_epilogue(Device& device, const Check& check, const EpilogueInputs& inputs,
                                                      const Reference& judge);

}  // namespace jitgemm
