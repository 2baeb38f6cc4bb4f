#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/kernel_info.hpp"
#include "jitgemm/prepared_operand.hpp"

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

    /// Enqueues the preparation of A, or of B, on `stream`, and waits for it if the spec has constant_a, or constant_b.
    /// The spec must have `prepared` for it, and says how it lies. If kernels read it as it lies, nothing is enqueued.
    /// `memory` is optional: prepared_a_bytes() on the device, aligned to 256 bytes, which stay the caller's. A graph
    /// that is being captured needs it. Throws as launch() does.
    [[nodiscard]] PreparedOperand prepare_a(DevicePointer a, Stream stream = nullptr, DevicePointer memory = {},
                                            std::size_t bytes = 0) const;
    [[nodiscard]] PreparedOperand prepare_b(DevicePointer b, Stream stream = nullptr, DevicePointer memory = {},
                                            std::size_t bytes = 0) const;
    /// Bytes of the copy that prepare_a() makes; 0 if it makes none.
    [[nodiscard]] std::size_t prepared_a_bytes() const;
    [[nodiscard]] std::size_t prepared_b_bytes() const;

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
