#pragma once

/// \file Catch2 as Debian 12 (version 2) and Ubuntu 24.04 (version 3) have it. Tests use version 3's names.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // version 2 has it without a namespace
#else
#include <catch2/catch.hpp>

#include <string>

namespace Catch::Matchers {
// NOLINTNEXTLINE(readability-identifier-naming): version 3's name
inline auto ContainsSubstring(const std::string& text, CaseSensitive::Choice sensitivity = CaseSensitive::Yes) {
    return Contains(text, sensitivity);
}
}  // namespace Catch::Matchers
#endif

#include <iostream>

/// Leaves a test that cannot run on this machine; ctest shows it as skipped, with the reason in its output.
#define SKIP_TEST(reason)                              \
    do {                                               \
        std::cout << "[skipped] " << (reason) << '\n'; \
        return;                                        \
    } while (false)
