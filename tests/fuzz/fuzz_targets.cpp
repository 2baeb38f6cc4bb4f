#include "tests/fuzz/fuzz_targets.hpp"

#include "jitgemm/error.hpp"

#include <algorithm>
#include <array>

namespace jitgemm::fuzz {
namespace {

constexpr std::array kTargets{
    Target{"wisdom", wisdom},
    Target{"npy", npy},
    Target{"shapes", shapes},
    Target{"cache_meta", cache_meta},
    Target{"kernel_name", kernel_name},
    Target{"layout", layout},
    Target{"dump", dump},
    Target{"store", store},
    Target{"ptx", ptx},
    Target{"machine_code", machine_code},
    Target{"template", kernel_template},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
    const auto* const found = std::ranges::find(kTargets, name, &Target::name);
    return found == kTargets.end() ? nullptr : found;
}

void read(const Target& target, std::string_view input) {
    try {
        target.read(input);
    } catch (const Error&) {  // refused
    }
}

}  // namespace jitgemm::fuzz
