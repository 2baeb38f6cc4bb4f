#pragma once

#include "generator/epilogue/epilogue.hpp"
#include "jitgemm/epilogue.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// An EpilogueText points to this.
struct EpilogueTextValue {
    using Layouts = std::map<std::string, EpilogueLayout, std::less<>>;

    std::string text;
    Layouts layouts;  ///< those that are not the default
    std::size_t hash = 0;
    std::optional<Epilogue> meaning;                                     ///< of a canonical text
    mutable std::atomic<const EpilogueTextValue*> transposed = nullptr;  ///< the same, set when it is first asked for
};

struct EpilogueTextAccess {
    [[nodiscard]] static const EpilogueTextValue* value(EpilogueText text) { return text.value_; }
    [[nodiscard]] static EpilogueText make(const EpilogueTextValue* value) { return EpilogueText(value); }
};

/// 0 for no text.
[[nodiscard]] inline std::size_t hash_of(EpilogueText text) {
    return text.empty() ? 0 : EpilogueTextAccess::value(text)->hash;
}
[[nodiscard]] const EpilogueTextValue::Layouts& layouts_of(EpilogueText text);

/// The meaning of a problem's text whose D has the type `d`, with all that is wrong with it.
[[nodiscard]] EpilogueReading reading_of(EpilogueText text, DataType d);

/// The canonical text of a meaning, whose operands lie as those of `layouts`.
[[nodiscard]] EpilogueText text_of(const Epilogue& meaning, EpilogueText layouts);

/// The canonical text of the meaning, with the layouts of `text`. Throws SpecError for a text that breaks a rule.
[[nodiscard]] EpilogueText canonical(EpilogueText text, DataType d);

/// The same for the transposed product.
[[nodiscard]] EpilogueText transposed(EpilogueText text, DataType d);

/// The meaning of a text; that of a canonical one costs nothing. Nothing for no text. Throws SpecError as canonical().
[[nodiscard]] std::optional<Epilogue> meaning_of(EpilogueText text, DataType d);

}  // namespace jitgemm
