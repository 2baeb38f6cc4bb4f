#pragma once

#include "jitgemm/device_pointer.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/verify/reference.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// The device code of verification and measurement: reference_arithmetic.cuh, reference_elements.cuh,
/// reference_kernels.cu.
[[nodiscard]] const std::string& reference_kernels_text();
[[nodiscard]] KernelText reference_kernel_source(const Arch& arch);

/// The reference kernels loaded on a context's device. Calls enqueue on the legacy default stream; those with a result
/// wait for it.
class ReferenceKernels final : public Reference {
public:
    explicit ReferenceKernels(ContextState& context);
    ~ReferenceKernels() override;
    ReferenceKernels(const ReferenceKernels&) = delete;
    ReferenceKernels& operator=(const ReferenceKernels&) = delete;

    void fill(const DeviceMatrix& matrix, const Fill& fill) const override;
    [[nodiscard]] CheckResult compare(const DeviceMatrix& matrix, const Fill& fill) const override;
    [[nodiscard]] CheckResult compared_element(const DeviceMatrix& matrix, const Fill& fill,
                                               std::uint64_t number) const override;
    [[nodiscard]] CheckResult check(const Check& check) const override;
    [[nodiscard]] CheckResult element(const Check& check, std::uint64_t number) const override;
    [[nodiscard]] std::vector<ProductSum> sums(const Check& check) const override;
    [[nodiscard]] std::int64_t guard_damage(const GuardedLines& lines, std::uint8_t pattern) const override;
    /// Reads `bytes` (a multiple of 16) on `stream`.
    void read(DevicePointer data, std::int64_t bytes, Stream stream) const;

private:
    template <typename Arguments>
    void launch(int entry, std::int64_t blocks, const Arguments& arguments, Stream stream = nullptr) const;
    /// Launches, waits, and returns the result.
    template <typename Arguments>
    [[nodiscard]] CheckResult answer(int entry, std::int64_t blocks, Arguments arguments) const;

    std::shared_ptr<Device> device_;
    std::vector<Function> functions_;
    DevicePointer result_;
};

}  // namespace jitgemm
