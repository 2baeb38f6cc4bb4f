#include "runtime/cli/group_draw.hpp"

#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace jitgemm::cli {

GroupDraw parse_group_draw(std::string_view name, std::string_view text) {
    const std::size_t colon = text.find(':');
    GroupDraw draw;
    if (colon != std::string_view::npos) {
        draw.seed = parse_number<std::uint64_t>(text.substr(colon + 1));
        if (!draw.seed)
            throw UsageError(
                fmt::format("{} is '{}': a seed behind the colon is a whole number: random:5", name, text));
    }
    try {
        draw.sizes = parse_group_sizes(text.substr(0, colon));
    } catch (const Error&) {
        throw UsageError(fmt::format("{} is '{}': it must be uniform, random or skewed", name, text));
    }
    return draw;
}

}  // namespace jitgemm::cli
