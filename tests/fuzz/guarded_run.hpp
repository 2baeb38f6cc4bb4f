#pragma once

#include "tests/fuzz/fuzz_targets.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace jitgemm::fuzz {

/// Gives a target one input after another in a process of their own, which an input may crash, and which ends after
/// kMostSeconds at one input or with more than kMostMegabytes. `input(i)` makes the i-th; it is asked for again, in
/// this process, for those that failed. Calls `failed(input, how)` for each. Returns how many there were.
int run_guarded(const Target& target, std::size_t count, const std::function<std::string(std::size_t)>& input,
                const std::function<void(std::size_t, const std::string&)>& failed);

}  // namespace jitgemm::fuzz
