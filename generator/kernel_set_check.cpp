#include "generator/kernel_set_check.hpp"

#include "generator/kernel_set_pool.hpp"
#include "generator/kernel_set_rows.hpp"
#include "generator/kernel_set_table.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

class RangeCheck {
public:
    RangeCheck(const KernelSet& set, const KernelRange& range, const Arch& arch)
        : set_(set), range_(range), kernel_(set.kernels[range.kernel]), arch_(arch) {}

    /// A steady kernel that serves the ends serves all between. Its anatomy is only asked for after its rules.
    void run() const {
        check_at(range_.first_m);
        check_at(range_.last_m);
        if (is_steady(kernel_, problem_at(kernel_.spec, range_.first_m))) return;
        if ((range_.last_m - range_.first_m) / range_.multiple > kSteadyRows)
            refuse(range_.last_m, "it is not one for a range of this length");
        for (std::int64_t m = range_.first_m; m < range_.last_m; m += range_.multiple) check_at(m);
    }

private:
    void check_at(std::int64_t m) const {
        if (&set_.range_of(m) != &range_) return;  // m belongs to a larger multiple
        const Problem problem = problem_at(kernel_.spec, m);
        if (!is_valid(kernel_, problem, arch_)) refuse(m, "it breaks its family's rules there");
    }
    [[noreturn]] void refuse(std::int64_t m, std::string_view reason) const {
        throw SpecError("no kernel set",
                        {fmt::format("{} does not serve m={}: {}", kernel_name(kernel_.id), m, reason)});
    }

    const KernelSet& set_;
    const KernelRange& range_;
    const SetKernel& kernel_;
    const Arch& arch_;
};

}  // namespace

void check_kernel_set(const KernelSet& set, const Arch& arch) {
    for (const KernelRange& range : set.ranges) RangeCheck(set, range, arch).run();
}

}  // namespace jitgemm
