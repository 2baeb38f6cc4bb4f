#include "runtime/cli/parse_complaint.hpp"

#include <fmt/format.h>

#include <array>
#include <regex>

namespace jitgemm::cli {
namespace {

struct Wording {
    const char* pattern;  ///< of CLI11
    const char* ours;     ///< {0}: the option, {1}: its value or how many it got
};

constexpr std::array kWordings{
    Wording{R"(Could not convert: (\S+) = (.*))", "{0} is '{1}': expected a number"},
    Wording{R"((\S+): 1 required .*missing)", "{0} takes a value, and none is given"},
    Wording{R"((\S+): (?:At Most|At most) 1 required but received (\d+))", "{0} takes one value, and {1} are given"},
    Wording{R"(Expected exactly 1 arguments to (\S+), got (\d+))", "{0} takes one value, and {1} are given"},
    Wording{R"((\S+): too many inputs for a flag)", "{0} is given more than once"},
    Wording{R"((\S+): Should be true/false or a number)", "{0} takes no value"},
};

}  // namespace

std::string parse_complaint(const std::string& message) {
    for (const Wording& wording : kWordings) {
        std::smatch parts;
        if (!std::regex_match(message, parts, std::regex(wording.pattern))) continue;
        return fmt::format(fmt::runtime(wording.ours), parts[1].str(), parts.size() > 2 ? parts[2].str() : "");
    }
    return message;
}

}  // namespace jitgemm::cli
