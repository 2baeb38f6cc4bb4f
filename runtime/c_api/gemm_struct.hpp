#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/jitgemm.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jitgemm::c_api {

/// A member of jg_gemm, with its key in the spec's text.
struct GemmMember {
    std::string_view key;
    std::size_t offset;
    std::size_t bytes;
    /// Its value as the text has it; empty for the default.
    std::string (*word)(const jg_gemm&);
};

/// One for each row of gemm_spec_fields().
[[nodiscard]] std::span<const GemmMember> gemm_members();

/// A member that earlier headers named. It must be 0 now.
struct ReservedMember {
    std::string_view name;
    std::string_view neutral;  ///< the neutral word that programs of these headers may have set, in the form of word()
    std::size_t bytes;
    std::string (*word)(const jg_gemm&);  ///< its value, empty for 0
};
[[nodiscard]] std::span<const ReservedMember> reserved_members();

/// The text of a struct: "gemm-v6 m=.. a=f16 ...", with the members that are set. Throws InvalidArgument for a wrong
/// size, a reserved member that is set, a word with blanks, or an epilogue with a quote.
[[nodiscard]] std::string text_of(const jg_gemm* gemm);

}  // namespace jitgemm::c_api
