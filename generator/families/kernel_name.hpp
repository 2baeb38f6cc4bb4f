#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/kernel_config.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// A kernel is a signature and a config; its canonical name says both, and parse_kernel_name reads it back.
struct KernelId {
    GemmSignature signature;
    KernelConfig config;
    friend bool operator==(const KernelId&, const KernelId&) = default;
};

/// "<family>_<type of A>[_b-<type>]_<layout>[_c[-<type>]][_d-<type>][_acc<type>]_<config>[_align<A>.<B>.<D>]": what is
/// left out is B and D as A's type, no C, "c" alone C as D's type, sums in f32, 16 bytes of alignment ("align2": 2 of
/// each), and of the config the family's published defaults, which never change.
[[nodiscard]] std::string kernel_name(const KernelId& id);
[[nodiscard]] inline std::string kernel_name(const Problem& problem, const KernelConfig& config) {
    return kernel_name({problem.signature, config});
}
/// Throws ConfigError naming the token and what was expected there.
[[nodiscard]] KernelId parse_kernel_name(std::string_view name);

/// The config of a canonical kernel name. Throws ConfigError when the name is malformed, or of a kernel that computes
/// something else than the problem.
[[nodiscard]] KernelConfig config_of_kernel(const Problem& problem, const std::string& kernel);

}  // namespace jitgemm
