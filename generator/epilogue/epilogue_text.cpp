#include "generator/epilogue/epilogue_text.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace jitgemm {
namespace {

using Layouts = EpilogueTextValue::Layouts;

/// All texts of the process.
class Texts {
public:
    static Texts& all() {
        static Texts texts;
        return texts;
    }

    [[nodiscard]] std::optional<EpilogueText> find(std::string_view text, const Layouts& layouts) const {
        const std::scoped_lock lock(mutex_);
        const auto found = known_.find(key_of(text, layouts));
        if (found == known_.end()) return std::nullopt;
        return EpilogueTextAccess::make(found->second.get());
    }
    EpilogueText find_or_add(std::string text, const Layouts& layouts, const std::optional<Epilogue>& meaning) {
        const std::string key = key_of(text, layouts);
        const std::scoped_lock lock(mutex_);
        std::unique_ptr<const EpilogueTextValue>& known = known_[key];
        if (known == nullptr) {
            auto made = std::make_unique<EpilogueTextValue>();
            made->text = std::move(text);
            made->layouts = layouts;
            made->hash = std::hash<std::string>()(key);
            made->meaning = meaning;
            known = std::move(made);
        }
        return EpilogueTextAccess::make(known.get());
    }

private:
    static std::string key_of(std::string_view text, const Layouts& layouts) {
        std::string key(text);
        for (const auto& [name, layout] : layouts)
            key += fmt::format("\n{} {} {} {} {}", name, layout.ld, layout.align, layout.batch_stride,
                               layout.outer_stride);
        return key;
    }

    mutable std::mutex mutex_;
    std::unordered_map<std::string, std::unique_ptr<const EpilogueTextValue>> known_;
};

/// Of a text that is canonical as it stands: then it does not depend on D's type.
std::optional<Epilogue> own_meaning(std::string_view text) {
    std::optional<Epilogue> meaning = try_read_epilogue(text).epilogue;
    return meaning && meaning->text() == text ? meaning : std::nullopt;
}

}  // namespace

EpilogueText::EpilogueText(std::string_view text) {
    if (text.empty()) return;
    const std::optional<EpilogueText> known = Texts::all().find(text, {});
    *this = known ? *known : Texts::all().find_or_add(std::string(text), {}, own_meaning(text));
}

EpilogueText EpilogueText::with(std::string_view operand, const EpilogueLayout& layout) const {
    if (empty())
        throw SpecError("no epilogue", {fmt::format("{} has a layout, but the epilogue has no text", operand)});
    Layouts layouts = value_->layouts;
    layouts.erase(std::string(operand));
    if (layout != EpilogueLayout()) layouts.emplace(operand, layout);
    return Texts::all().find_or_add(value_->text, layouts, value_->meaning);
}

std::string_view EpilogueText::text() const { return empty() ? std::string_view() : std::string_view(value_->text); }

EpilogueLayout EpilogueText::layout_of(std::string_view operand) const {
    const Layouts& layouts = layouts_of(*this);
    const auto found = layouts.find(operand);
    return found == layouts.end() ? EpilogueLayout() : found->second;
}

const Layouts& layouts_of(EpilogueText text) {
    static const Layouts kNone;
    return text.empty() ? kNone : EpilogueTextAccess::value(text)->layouts;
}

EpilogueReading reading_of(EpilogueText text, DataType d) {
    if (const EpilogueTextValue* const value = EpilogueTextAccess::value(text); value != nullptr && value->meaning)
        return {value->meaning, {}};
    return try_read_epilogue(text.text(), {.d = d});
}

EpilogueText text_of(const Epilogue& meaning, EpilogueText layouts) {
    return Texts::all().find_or_add(meaning.text(), layouts_of(layouts), meaning);
}

EpilogueText canonical(EpilogueText text, DataType d) {
    const std::optional<Epilogue> meaning = meaning_of(text, d);
    return meaning ? text_of(*meaning, text) : EpilogueText();
}

EpilogueText transposed(EpilogueText text, DataType d) {
    if (text.empty()) return {};
    const EpilogueTextValue& value = *EpilogueTextAccess::value(text);
    if (!value.meaning) return text_of(read_epilogue(value.text, {.d = d}).transposed(), text);
    if (const EpilogueTextValue* const known = value.transposed) return EpilogueTextAccess::make(known);
    const EpilogueText made = text_of(value.meaning->transposed(), text);
    value.transposed = EpilogueTextAccess::value(made);
    return made;
}

std::optional<Epilogue> meaning_of(EpilogueText text, DataType d) {
    if (text.empty()) return std::nullopt;
    const EpilogueTextValue* const value = EpilogueTextAccess::value(text);
    if (value->meaning) return value->meaning;
    return read_epilogue(value->text, {.d = d});
}

}  // namespace jitgemm
