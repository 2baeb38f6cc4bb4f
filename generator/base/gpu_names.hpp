#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// The part of a GPU's name that identifies it: "a10080gb" and "a100" of "NVIDIA A100-SXM4-80GB" and of "a100-80gb".
struct GpuNameParts {
    std::string with_memory;
    std::string model;  ///< the same without the memory's size
};

/// Takes a name from the driver, from the table, or typed by a person. Blanks, dashes, case, the maker, the brand and
/// the board do not matter. "Laptop", "Ti" and other words that name another GPU stay.
[[nodiscard]] GpuNameParts gpu_name_parts(std::string_view name);

}  // namespace jitgemm
