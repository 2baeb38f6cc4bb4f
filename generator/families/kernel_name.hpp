#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/kernel_config.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// A kernel is a signature and a config. Its canonical name holds both, and parse_kernel_name reads it back.
struct KernelId {
    GemmSignature signature;
    KernelConfig config;
    friend bool operator==(const KernelId&, const KernelId&) = default;
};

/// "<family>_<type of A>[_b-<type>]_<layout>[_c[-<type>]][_d-<type>][_acc<type>][_<math>][_prepared<operands>]
/// [_symmetric][_batch|_pointers|_groups|_kgroups|_gathered][_ep<hash>]_<config>[_align<A>.<B>.<D>]".
/// A name leaves out defaults: the type of B and D if it is A's, a missing C, C's type if it is D's ("c" alone), f32
/// sums, and an alignment of 16 bytes ("align2": 2 for each). The config leaves out the family's published defaults,
/// which never change.
[[nodiscard]] std::string kernel_name(const KernelId& id);
[[nodiscard]] inline std::string kernel_name(const Problem& problem, const KernelConfig& config) {
    return kernel_name({problem.signature, config});
}
/// Throws ConfigError with the token and the expected text. A name has only the hash of an epilogue's text: a problem
/// with that text must have been read before.
[[nodiscard]] KernelId parse_kernel_name(std::string_view name);

/// The config of a canonical kernel name. Throws ConfigError if the name is malformed, or if its kernel does not
/// compute the problem.
[[nodiscard]] KernelConfig config_of_kernel(const Problem& problem, const std::string& kernel);

}  // namespace jitgemm
