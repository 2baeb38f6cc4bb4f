#pragma once

#include "generator/kernel_set_pool.hpp"

namespace jitgemm {

/// Up to here each m is looked at. From here on, kernels must be steady.
inline constexpr std::int64_t kSteadyRows = 8192;

/// Whether a kernel that serves two values of m serves all values between them: m is for its rules a limit alone.
[[nodiscard]] bool is_steady(const SetKernel& kernel, const Problem& problem);

/// Deals all values of m out to the kernels of a set. Where no kernel is valid, one is added.
class KernelTable {
public:
    KernelTable(const KernelSetRequest& request, const KernelPool& pool, std::vector<SetKernel> kernels);

    /// Kernels and ranges of the finished set.
    void write(KernelSet& set);

private:
    [[nodiscard]] std::vector<KernelRange> ranges();
    void add_ranges(std::vector<KernelRange>& ranges, const RowClass& rows);
    [[nodiscard]] std::size_t server(std::int64_t m, std::optional<std::size_t> before);
    [[nodiscard]] bool serves(const SetKernel& kernel, const Problem& problem, std::int64_t m) const;
    [[nodiscard]] std::size_t repaired(const GemmSpec& aligned, std::int64_t m);
    [[nodiscard]] std::int64_t last_served_by(std::size_t kernel, const RowClass& rows, std::int64_t low,
                                              std::int64_t high);

    const KernelSetRequest& request_;
    const KernelPool& pool_;
    std::vector<SetKernel> kernels_;
};

}  // namespace jitgemm
