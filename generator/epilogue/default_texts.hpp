#pragma once

#include "generator/epilogue/epilogue.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// The epilogues of a problem without a text. C's type makes the difference, and whether C is one row.
inline constexpr std::string_view kPlainText = "d = alpha * acc";
inline constexpr std::string_view kTextWithC = "d = alpha * acc + beta * c[m,n]";
inline constexpr std::string_view kTextWithBroadcastC = "d = alpha * acc + beta * c[n]";

[[nodiscard]] Epilogue default_epilogue(DataType d, std::optional<DataType> c, bool broadcasts_c);

/// The number of results that one call of `finish` returns.
enum class FinishUnit : std::uint8_t {
    element,       ///< one float; it reads the guarded operand itself, if there is one
    with_operand,  ///< one float; the guarded operand has been read before, as 0 where it is not read
    pair,          ///< a float2: two neighbouring columns
    atom           ///< an Atom: the two pairs that a thread has of a wgmma's eight columns
};

/// Whether render_by_unit has a text for it: one output d of `acc` alone, or with one guarded operand added behind it.
[[nodiscard]] bool has_unit_text(const Epilogue& epilogue);

/// CUDA text of a `finish` that returns d, for whole vectors of elements: a float, a float2 or an Atom. A guarded
/// operand that is not read is not waited for, either.
[[nodiscard]] std::string render_by_unit(const Epilogue& epilogue, FinishUnit unit);

}  // namespace jitgemm
