#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/kernel_info.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace jitgemm {

struct KernelSlot;  // the library's own

/// A kernel ready to launch for one spec. A small handle: copy freely, launch from many threads at once. All copies of
/// one handle change together when tuning in the background finds a better kernel: a launch that has begun is not
/// affected, the next one takes the better one (where the caller brings a workspace that is too small for it, the first
/// one still). Whatever a handle refers to stays loaded as long as a copy of it lives. A handle that was made without a
/// kernel or moved from is empty: all it can do is be asked, assigned to and destroyed; anything else throws Error.
class GemmKernel {
public:
    GemmKernel() = default;
    [[nodiscard]] explicit operator bool() const { return slot_ != nullptr; }

    /// Enqueues D = alpha·A·B + beta·C. M or N of zero enqueues nothing. Throws SpecError before anything is enqueued
    /// when a pointer is null or less aligned than the spec says, when beta ≠ 0 or broadcast_c without C, when D
    /// overlaps an input (D may be exactly a C of as many rows), when a workspace is misaligned, too small or not apart
    /// from all operands, CudaError when the driver refuses. Safe while `stream` is being captured into a graph, which
    /// then needs a copy of this handle alive for as long as it is launched: the handle keeps the code loaded.
    void launch(const GemmArguments& arguments, Stream stream = nullptr) const;

    [[nodiscard]] const GemmSpec& spec() const;  ///< resolved
    [[nodiscard]] std::string source() const;    ///< exactly what was compiled, with its banner
    [[nodiscard]] const KernelInfo& info() const;
    [[nodiscard]] std::size_t workspace_bytes() const;

private:
    friend struct KernelAccess;
    explicit GemmKernel(std::shared_ptr<KernelSlot> slot);
    std::shared_ptr<KernelSlot> slot_;
};

}  // namespace jitgemm
