#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/grid_rule.hpp"
#include "generator/base/kernel_argument.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// One __global__ function of a kernel, with all that a launch of it needs. Its single parameter is a struct by value,
/// whose fields are `arguments` (argument_layout).
struct KernelEntry {
    std::string function;
    int threads = 0;
    int shared_bytes = 0;                 ///< dynamic shared memory
    std::array<int, 3> cluster{1, 1, 1};  ///< blocks of a thread-block cluster
    /// The entry may begin before the previous kernel of the stream has ended. It waits for that kernel itself
    /// (griddepcontrol.wait): CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
    bool programmatic_launch = false;
    /// Its blocks wait for blocks of lower index. Those have begun by then, because GPUs start blocks in the order of
    /// their index.
    bool blocks_in_order = false;
    GridRule grid;
    std::vector<KernelArgument> arguments;
    friend bool operator==(const KernelEntry&, const KernelEntry&) = default;
};

[[nodiscard]] inline int cluster_blocks(const std::array<int, 3>& cluster) {
    return cluster[0] * cluster[1] * cluster[2];
}

/// The function of the entry that multiplies. Other entries pack or split operands before it, or add up sums after it.
inline constexpr std::string_view kMultiplyingFunction = "gemm";
inline constexpr std::string_view kSplittingFunction = "gemm_split";

/// The text that is compiled and hashed (`body`, without the banner), and how to launch its functions.
struct KernelText {
    std::string name;  ///< of a generated kernel, its canonical name
    const Arch* arch = nullptr;
    std::string body;
    std::vector<KernelEntry> entries;  ///< launched in order
};

}  // namespace jitgemm
