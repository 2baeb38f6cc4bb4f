#pragma once

#include "generator/generate.hpp"
#include "generator/heuristics.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::testing {

/// \file Evaluates every index that a kernel computes, at sizes no emulator could run: the body of its dump is compiled
/// as C++ for the CPU (tests/support/replay/), with undefined behaviour trapped and every access to memory reported,
/// and threads of chosen blocks run by themselves in an address space as large as the matrices. What a block is
/// expected to touch is reckoned here in 64 bits.

/// The body of a dump as C++: extern "C" kernels become functions of a namespace, inline PTX calls that say their
/// operands.
[[nodiscard]] std::string host_form(std::string_view body);

class IndexReplay {
public:
    /// A thread that has not come to its end by then spins.
    explicit IndexReplay(int seconds_per_thread = 60) : seconds_per_thread_(seconds_per_thread) {}
    /// Adds what is launched for the problem: every entry, for tiles at the corners and in the middle of D, the first
    /// and the last split. The spec's matrices hold less than 2^43 bytes each. `body`: another one than the config's
    /// own.
    void add(const GemmSpec& spec, const KernelConfig& config, std::optional<std::string> body = std::nullopt);
    /// The things that are wrong, a line each; unset with the reason on stdout where this machine can't run it.
    [[nodiscard]] std::optional<std::string> run() const;
    [[nodiscard]] std::size_t kernels() const { return bodies_.size(); }

private:
    std::size_t kernel_of(const std::string& body, const std::vector<KernelEntry>& entries);

    struct Body {
        std::string text;
        std::size_t first_function = 0;
    };
    int seconds_per_thread_;
    std::vector<Body> bodies_;
    std::vector<std::string> functions_;  ///< "kernel0::gemm"
    std::string program_;
};

}  // namespace jitgemm::testing
