#include "runtime/tuning/store/wisdom.hpp"

#include "runtime/tuning/store/lookup.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

#include <array>

namespace jitgemm::fuzz {
namespace {

// As in the corpus, and near them.
const std::array<GemmSpec, 3> kAsked{GemmSpec{.m = 4096, .n = 512, .k = 1056},
                                     GemmSpec{.m = 17, .n = 4096, .k = 4096, .c = DataType::bf16},
                                     GemmSpec{.m = 64, .n = 48, .k = 40}};

}  // namespace

void wisdom(std::string_view input) {
    const tuning::Wisdom wisdom = tuning::parse_wisdom(input, "wisdom");
    static_cast<void>(tuning::to_wisdom(wisdom.winners));
    const tuning::TunedChoices choices(wisdom.winners, {});
    for (const GemmSpec& spec : kAsked) static_cast<void>(choices.choose(problem_of(spec), find_gpu("h200")));
    // Each winner for its own problem, and for one beside it.
    for (std::size_t i = 0; i < wisdom.winners.size() && i < 4; ++i) {
        GemmSpec spec = wisdom.winners[i].spec;
        static_cast<void>(choices.choose(problem_of(spec), find_gpu("a100")));
        spec.m += spec.m / 8;
        if (problems(spec).empty()) static_cast<void>(choices.choose(problem_of(spec), find_gpu("h200")));
    }
}

}  // namespace jitgemm::fuzz
