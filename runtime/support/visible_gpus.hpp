#pragma once

#include <optional>
#include <string>

namespace jitgemm {

/// CUDA_VISIBLE_DEVICES, by which the driver hides GPUs from a process; nothing if it is not set.
[[nodiscard]] std::optional<std::string> visible_gpus_from_environment();

}  // namespace jitgemm
