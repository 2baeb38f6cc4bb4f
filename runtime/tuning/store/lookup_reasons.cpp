#include "runtime/tuning/store/lookup_reasons.hpp"

#include "generator/base/gemm_spec_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace jitgemm::tuning {
namespace {

std::string how_far(const Winner& own) {
    std::string text;
    if (own.narrowed == kNarrowedUnknown)
        text = " by an older version";
    else if (!own.narrowed.empty())
        text = ", narrowed to " + own.narrowed;
    return own.complete ? text : text + ", not to the end";
}

std::vector<const GemmSpecField*> differing(const GemmSpec& left, const GemmSpec& right) {
    std::vector<const GemmSpecField*> fields;
    for (const GemmSpecField& field : gemm_spec_fields())
        if (field.value(left) != field.value(right)) fields.push_back(&field);
    return fields;
}

}  // namespace

std::string why_unserving(const Winner& own, std::string_view obstacle, std::string_view rival) {
    if (own.hot) return " with its operands in L2 (protocol hot), which serves no request";
    if (own.protocol != Protocol::steady)
        return fmt::format(" by the {} protocol, which serves no request", to_string(own.protocol));
    const std::string text = how_far(own);
    if (!obstacle.empty()) return fmt::format("{}, but its kernel {}", text, obstacle);
    if (own.heuristic_us <= 0) return text + ", but the heuristic's kernel was not timed beside it";
    if (own.heuristic_kernel != rival) return text + ", but beside another kernel than the heuristic's current choice";
    return text + ", and no kernel was clearly faster than the heuristic's";
}

bool is_same_product(const GemmSpec& left, const GemmSpec& right) {
    return left.m == right.m && left.n == right.n && left.k == right.k && left.a == right.a && left.b == right.b &&
           left.layout == right.layout;
}

std::size_t count_differing_fields(const GemmSpec& left, const GemmSpec& right) {
    return differing(left, right).size();
}

std::string differing_fields(const GemmSpec& tuned, const GemmSpec& asked) {
    const std::vector<const GemmSpecField*> fields = differing(tuned, asked);
    const auto text = [&](const GemmSpec& spec) {
        std::vector<std::string> words;
        for (const GemmSpecField* const field : fields)
            words.push_back(fmt::format("{}={}", field->key, field->print(spec)));
        return fmt::format("{}", fmt::join(words, " "));
    };
    return fmt::format("with {} in place of {}", text(tuned), text(asked));
}

}  // namespace jitgemm::tuning
