#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// What tells a GPU's name from others': "a10080gb" and "a100" of "NVIDIA A100-SXM4-80GB" and of "a100-80gb".
struct GpuNameParts {
    std::string with_memory;
    std::string model;  ///< the same without the size of its memory
};

/// Of a name as the driver prints it, as the table has it, or as a person types it: blanks, dashes, case, the maker,
/// the brand and the board do not matter. "Laptop", "Ti" and whatever else names another GPU stays.
[[nodiscard]] GpuNameParts gpu_name_parts(std::string_view name);

}  // namespace jitgemm
