#pragma once

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace jitgemm::testing {

/// Takes one in `of` of a test's cases, spread evenly over them. Compiling kernels takes most of the time of a test
/// that multiplies variants by types or texts. JITGEMM_TEST_SEED moves the choice: .ci/run gives it the commit, so that
/// all cases are tried in time. With JITGEMM_TEST_CASES=all, each case is taken.
class OneIn {
public:
    /// Tests that share a list of cases pass different shifts. Then they take different cases.
    explicit OneIn(int of, int shift = 0)
        : part_(takes_all() ? 1.0 : 1.0 / of), place_(std::fmod((seed() + shift) * kStep, 1.0)) {}

    /// Whether the next case is taken.
    [[nodiscard]] bool next() {
        place_ = std::fmod(place_ + kStep, 1.0);
        return place_ < part_;
    }

private:
    static constexpr double kStep = 0.61803398874989485;  // the golden ratio's fraction: no inner loop has its period

    [[nodiscard]] static bool takes_all() {
        const char* const cases = std::getenv("JITGEMM_TEST_CASES");
        return cases != nullptr && std::string_view(cases) == "all";
    }
    [[nodiscard]] static double seed() {
        const char* const seed = std::getenv("JITGEMM_TEST_SEED");
        return seed == nullptr ? 0 : static_cast<double>(std::strtoull(seed, nullptr, 0) % 1000);
    }

    double part_;
    double place_;
};

}  // namespace jitgemm::testing
