#pragma once

#include "tests/catch.hpp"
#include "tests/support/tma_run.hpp"

#include <cstdint>
#include <string>

/// \file Hand-written kernels in several orders of their warps and blocks, and, where they have asynchronous copies,
/// with these done early and late.

namespace jitgemm::testing {

inline void set_order(PtxRun& run, std::uint64_t seed) { run.order_seed = seed; }
inline void set_order(TmaRun& run, std::uint64_t seed) {
    run.order_seed = seed;
    run.async_mode = seed % 2 == 0 ? emulator::AsyncMode::eager : emulator::AsyncMode::late;
}

inline constexpr std::uint64_t kOrders = 6;

/// CHECKs that the fault of every order is of that kind; the text is that of the last.
template <typename Run>
std::string text_of(Run run, emulator::FaultKind kind) {
    std::string text;
    for (std::uint64_t seed = 0; seed < kOrders; ++seed) {
        set_order(run, seed);
        const auto fault = fault_of(run);
        CHECK(fault);
        if (!fault) return "no fault";
        INFO(fault->text);
        CHECK(to_string(fault->kind) == to_string(kind));
        text = fault->text;
    }
    return text;
}

/// Whether no order has a fault.
template <typename Run>
bool is_right(Run run) {
    for (std::uint64_t seed = 0; seed < kOrders; ++seed) {
        set_order(run, seed);
        const auto fault = fault_of(run);
        if (!fault) continue;
        UNSCOPED_INFO(fault->text);
        return false;
    }
    return true;
}

}  // namespace jitgemm::testing
