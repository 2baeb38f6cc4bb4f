#pragma once

#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/kernel_range.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

struct KernelSetState;  // the library's own

/// A handle to a few loaded kernels that serve one problem for each m of a range. Copies are cheap, and many threads
/// may use one handle.
///
/// A default-constructed or moved-from handle is empty. It can be tested, assigned to and destroyed; every other call
/// throws Error.
class GemmKernelSet {
public:
    GemmKernelSet() = default;
    [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }

    /// The kernel for m rows: a look-up in a table, never a compile. The set remembers a limited number of handles, so
    /// two calls for one m may return two handles. Throws SpecError, which names m and the range, for an m outside.
    [[nodiscard]] GemmKernel kernel(std::int64_t m) const;
    /// kernel(m).launch(arguments, stream).
    void launch(std::int64_t m, const GemmArguments& arguments, Stream stream = nullptr) const;

    [[nodiscard]] const GemmSpec& spec() const;  ///< the request; its m is 0
    [[nodiscard]] std::int64_t first_m() const;
    [[nodiscard]] std::int64_t last_m() const;
    [[nodiscard]] const std::vector<std::string>& kernels() const;  ///< canonical names
    [[nodiscard]] const std::vector<KernelRange>& ranges() const;   ///< by multiple, the largest first; then by m
    [[nodiscard]] double mean_ratio() const;   ///< best time over served time, as predicted: geometric mean
    [[nodiscard]] double worst_ratio() const;  ///< the least of these ratios at the m that were looked at
    [[nodiscard]] std::string text() const;    ///< a table for people
    [[nodiscard]] std::string json() const;    ///< as `jitgemm kernels --json` prints it

private:
    friend struct KernelSetAccess;
    explicit GemmKernelSet(std::shared_ptr<const KernelSetState> state);
    std::shared_ptr<const KernelSetState> state_;
};

}  // namespace jitgemm
