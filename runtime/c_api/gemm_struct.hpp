#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/jitgemm.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jitgemm::c_api {

/// A member of jg_gemm, by the key that the spec's text has for it.
struct GemmMember {
    std::string_view key;
    std::size_t offset;
    std::size_t bytes;
    /// Its value as the text has it; empty where it is as usual.
    std::string (*word)(const jg_gemm&);
};

/// One for each row of gemm_spec_fields().
[[nodiscard]] std::span<const GemmMember> gemm_members();

/// A member that earlier headers had a name for, and that must be 0 now.
struct ReservedMember {
    std::string_view name;
    std::string_view neutral;  ///< what programs of these headers may have set, as word() has it; it says nothing
    std::size_t bytes;
    std::string (*word)(const jg_gemm&);  ///< its value, empty for 0
};
[[nodiscard]] std::span<const ReservedMember> reserved_members();

/// The text of a struct: "gemm-v2 m=.. a=f16 ...", with the members that are set. Throws InvalidArgument for its size,
/// for a reserved member that is set, or a word that has blanks.
[[nodiscard]] std::string text_of(const jg_gemm* gemm);

}  // namespace jitgemm::c_api
