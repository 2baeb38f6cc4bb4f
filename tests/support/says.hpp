#pragma once

#include "tests/catch.hpp"

#include <string>
#include <vector>

namespace jitgemm::testing {

#if CATCH_VERSION_MAJOR >= 3
using TextMatcher = Catch::Matchers::MatcherBase<std::string>;
#else
using TextMatcher = Catch::MatcherBase<std::string>;
#endif

/// A message that names the values and the key word of its rule, in whatever order and words: Says("24", "multiple",
/// "32"). Each part is found as whole words, so "2" is not found in "32".
class Says final : public TextMatcher {
public:
    template <typename... Parts>
    explicit Says(const Parts&... parts) : parts_{std::string(parts)...} {}

    [[nodiscard]] bool match(const std::string& text) const override;
    [[nodiscard]] std::string describe() const override;

private:
    std::vector<std::string> parts_;
};

}  // namespace jitgemm::testing
