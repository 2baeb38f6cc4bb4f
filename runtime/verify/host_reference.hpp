#pragma once

#include "runtime/verify/reference.hpp"

#include <memory>
#include <vector>

namespace jitgemm {

/// The reference on the host, on memory copied from the device: the formulas of reference_elements.cuh, with sums in
/// double precision over rows of D, on all cores.
class HostReference final : public Reference {
public:
    explicit HostReference(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    void fill(const DeviceMatrix& matrix, const Fill& fill) const override;
    [[nodiscard]] CheckResult compare(const DeviceMatrix& matrix, const Fill& fill) const override;
    [[nodiscard]] CheckResult compared_element(const DeviceMatrix& matrix, const Fill& fill,
                                               std::uint64_t number) const override;
    [[nodiscard]] CheckResult check(const Check& check) const override;
    [[nodiscard]] CheckResult element(const Check& check, std::uint64_t number) const override;
    [[nodiscard]] std::vector<ProductSum> sums(const Check& check) const override;
    [[nodiscard]] std::int64_t guard_damage(const GuardedLines& lines, std::uint8_t pattern) const override;

private:
    std::shared_ptr<Device> device_;
};

}  // namespace jitgemm
