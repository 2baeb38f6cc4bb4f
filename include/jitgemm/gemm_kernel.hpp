#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/kernel_info.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace jitgemm {

struct KernelSlot;  // the library's own

/// A handle to a kernel for one spec. Copies are cheap, and many threads may launch one handle. The code stays loaded
/// as long as a copy of the handle lives.
///
/// When tuning in the background finds a better kernel, all copies of the handle change together. A launch that has
/// begun is not affected; the next launch uses the better kernel. If the caller's workspace is too small for it, that
/// launch uses the first kernel.
///
/// A default-constructed or moved-from handle is empty. It can be tested, assigned to and destroyed; every other call
/// throws Error.
class GemmKernel {
public:
    GemmKernel() = default;
    [[nodiscard]] explicit operator bool() const { return slot_ != nullptr; }

    /// Enqueues D = alpha·A·B + beta·C on `stream`. Nothing is enqueued if M or N is 0.
    ///
    /// Throws before anything is enqueued. SpecError: a pointer is null or less aligned than the spec promises; beta is
    /// not 0, or broadcast_c is set, without a C; D overlaps an input (D may be exactly C); a workspace is misaligned,
    /// too small, or overlaps an operand. CudaError: the driver refused the launch.
    ///
    /// `stream` may be capturing a graph. A copy of this handle must then live as long as the graph is launched.
    void launch(const GemmArguments& arguments, Stream stream = nullptr) const;

    [[nodiscard]] const GemmSpec& spec() const;  ///< resolved
    [[nodiscard]] std::string source() const;    ///< the CUDA file that was compiled, with its banner
    [[nodiscard]] const KernelInfo& info() const;
    [[nodiscard]] std::size_t workspace_bytes() const;

private:
    friend struct KernelAccess;
    explicit GemmKernel(std::shared_ptr<KernelSlot> slot);
    std::shared_ptr<KernelSlot> slot_;
};

}  // namespace jitgemm
