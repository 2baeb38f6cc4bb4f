#include "runtime/cli/layout/numbers.hpp"

#include "generator/base/parse_number.hpp"
#include "runtime/cli/exit_codes.hpp"

#include <fmt/format.h>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kMostDigits = 9;

std::int64_t number_of(std::string_view option, std::string_view text, std::string_view word) {
    const std::optional<std::int64_t> value = parse_number<std::int64_t>(word);
    if (!value || word.size() > kMostDigits)
        throw UsageError(
            fmt::format("{} is '{}': '{}' is no integer of at most {} digits", option, text, word, kMostDigits));
    return *value;
}

}  // namespace

std::vector<std::int64_t> parse_numbers(std::string_view option, std::string_view text, std::size_t count) {
    std::vector<std::int64_t> numbers;
    std::string_view rest = text;
    for (;;) {
        const std::size_t end = rest.find_first_of(",x");
        numbers.push_back(number_of(option, text, rest.substr(0, end)));
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    if (count != 0 && numbers.size() != count)
        throw UsageError(fmt::format("{} is '{}': expected {} integers, not {}", option, text, count, numbers.size()));
    return numbers;
}

}  // namespace jitgemm::cli
