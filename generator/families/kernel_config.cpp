#include "generator/families/kernel_config.hpp"

#include "generator/base/nearest_name.hpp"
#include "generator/families/family.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <span>
#include <type_traits>

namespace jitgemm {
namespace {

constexpr std::array<std::string_view, 4> kLayouts{"tn", "nn", "nt", "tt"};
constexpr std::size_t kTokensBeforeConfig = 6;  // layout, a-, b-, c-, d-, acc-

std::string optional_type_name(const std::optional<DataType>& type) {
    return std::string(type ? to_string(*type) : "none");
}

[[noreturn]] void fail(std::string_view name, const std::string& reason) {
    throw ConfigError(fmt::format("kernel name '{}'", name), {reason});
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// The tokens of one kernel name, taken apart with messages that name the token and what should stand there.
class NameParser {
public:
    explicit NameParser(std::string_view name) : name_(name) {}

    KernelId parse() const {
        const Family& family = family_at_front();
        const auto tokens = split(name_.substr(std::min(name_.size(), family.name.size() + 1)), '_');
        if (tokens.size() < kTokensBeforeConfig + 2) {
            fail(name_,
                 fmt::format("ends after '{}': expected <family>_<layout>_a-<type>_b-<type>_c-<type|none>_d-<type>t_"
                             "acc-<type>_<config>_align<A>.<B>.<D>",
                             tokens.back()));
        }
        const KernelId id{.signature = signature_of(tokens), .config = config_of(family, config_text(tokens))};
        expect_canonical(kernel_name(id));
        return id;
    }

private:
    /// Family names hold underscores themselves and begin alike, so the name's front is held against each of them; the
    /// longest that fits is meant.
    const Family& family_at_front() const {
        const Family* longest = nullptr;
        for (const Family& family : family_table()) {
            const bool fits = name_ == family.name || name_.starts_with(std::string(family.name) + '_');
            if (fits && (longest == nullptr || family.name.size() > longest->name.size())) longest = &family;
        }
        if (longest != nullptr) return *longest;
        return naming_the_kernel([&]() -> const Family& { return find_family(front_before_layout()); });  // throws
    }

    /// What seems to be meant as the family: all before the first token that is a layout, or the first token.
    std::string_view front_before_layout() const {
        std::size_t end = name_.find('_');
        for (std::size_t at = end; at != std::string_view::npos; at = name_.find('_', at + 1)) {
            const std::string_view token = name_.substr(at + 1, name_.find('_', at + 1) - at - 1);
            if (parse_gemm_layout(token)) return name_.substr(0, at);
        }
        return name_.substr(0, end);
    }

    GemmSignature signature_of(std::span<const std::string_view> tokens) const {
        GemmSignature signature;
        signature.layout = layout_token(tokens[0]);
        signature.a = type_token(tokens[1], "a-");
        signature.b = type_token(tokens[2], "b-");
        signature.c = tokens[3] == "c-none" ? std::nullopt : std::optional(type_token(tokens[3], "c-"));
        signature.d = type_token(tokens[4], "d-", "t");
        signature.accumulator = type_token(tokens[5], "acc-");
        read_alignments(tokens.back(), signature);
        return signature;
    }

    GemmLayout layout_token(std::string_view token) const {
        if (const auto layout = parse_gemm_layout(token)) return *layout;
        fail(name_, fmt::format("'{}': expected a layout, one of {}", token, join_names(kLayouts)));
    }

    DataType type_token(std::string_view token, std::string_view prefix, std::string_view suffix = "") const {
        const bool framed =
            token.size() > prefix.size() + suffix.size() && token.starts_with(prefix) && token.ends_with(suffix);
        const std::string_view inside =
            framed ? token.substr(prefix.size(), token.size() - prefix.size() - suffix.size()) : std::string_view();
        if (const auto type = parse_data_type(inside)) return *type;
        std::vector<std::string_view> known;
        for (const DataTypeInfo& row : data_type_table()) known.push_back(row.name);
        fail(name_, fmt::format("'{}': expected {}<type>{}, the type one of {}{}{}", token, prefix, suffix,
                                join_names(known), prefix == "c-" ? ", none" : "", nearest_hint(inside, known)));
    }

    void read_alignments(std::string_view token, GemmSignature& signature) const {
        constexpr std::string_view kPrefix = "align";
        const auto numbers = split(token.starts_with(kPrefix) ? token.substr(kPrefix.size()) : std::string_view(), '.');
        if (numbers.size() != 3) fail_alignment(token);
        signature.align_a = alignment(token, numbers[0], signature.a);
        signature.align_b = alignment(token, numbers[1], signature.b);
        signature.align_d = alignment(token, numbers[2], signature.d);
    }

    int alignment(std::string_view token, std::string_view number, DataType type) const {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
        const bool whole = error == std::errc() && end == number.data() + number.size();
        if (!whole || !std::has_single_bit(value) || value > 16 || number.front() == '0') fail_alignment(token);
        if (static_cast<int>(value) < bytes(type)) {
            fail(name_, fmt::format("'{}': {} is less than the {} bytes of a {} element", token, value, bytes(type),
                                    to_string(type)));
        }
        return static_cast<int>(value);
    }

    [[noreturn]] void fail_alignment(std::string_view token) const {
        fail(name_, fmt::format("'{}': expected align<A>.<B>.<D>, each 1, 2, 4, 8 or 16 bytes", token));
    }

    KernelConfig config_of(const Family& family, std::string_view text) const {
        return naming_the_kernel([&] { return family.parse_config_name(text); });
    }

    /// Runs a step whose errors know only their part of the name.
    template <typename Step>
    std::invoke_result_t<Step> naming_the_kernel(Step step) const {
        try {
            return step();
        } catch (const ConfigError& error) {
            throw ConfigError(fmt::format("kernel name '{}'", name_), error.reasons());
        }
    }

    /// A name spells out what follows from the rest too (trans, swizzle span); there it must not contradict the rest.
    void expect_canonical(std::string_view canonical) const {
        if (name_ == canonical) return;
        const auto tokens = split(name_, '_');
        const auto expected = split(canonical, '_');
        const auto [token, wanted] = std::mismatch(tokens.begin(), tokens.end(), expected.begin(), expected.end());
        fail(name_,
             fmt::format("'{}': expected '{}', which follows from the other tokens",
                         token == tokens.end() ? "nothing" : *token, wanted == expected.end() ? "nothing" : *wanted));
    }

    /// The family's own tokens, as they stand in the name.
    static std::string_view config_text(std::span<const std::string_view> tokens) {
        const char* begin = tokens[kTokensBeforeConfig].data();
        const std::string_view last = tokens[tokens.size() - 2];
        return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
    }

    std::string_view name_;
};

[[noreturn]] void fail_parameters(std::string_view text, const std::string& reason) {
    throw ConfigError(fmt::format("parameters '{}'", text), {reason});
}

}  // namespace

std::string kernel_name(const KernelId& id) {
    const GemmSignature& s = id.signature;
    const Family& family = family_of(id.config);
    return fmt::format("{}_{}_a-{}_b-{}_c-{}_d-{}t_acc-{}_{}_align{}.{}.{}", family.name, to_string(s.layout),
                       to_string(s.a), to_string(s.b), optional_type_name(s.c), to_string(s.d),
                       to_string(s.accumulator), family.config_name(s, id.config), s.align_a, s.align_b, s.align_d);
}

KernelId parse_kernel_name(std::string_view name) { return NameParser(name).parse(); }

std::string_view family_name(const KernelConfig& config) { return family_of(config).name; }

ParameterMap parse_parameters(std::string_view text) {
    ParameterMap parameters;
    if (text.empty()) return parameters;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        if (equals == 0 || equals == std::string_view::npos || equals + 1 == part.size()) {
            fail_parameters(text, fmt::format("'{}' is not of the form name=value", part));
        }
        const auto [entry, is_new] = parameters.emplace(part.substr(0, equals), part.substr(equals + 1));
        if (!is_new) fail_parameters(text, fmt::format("'{}' stands twice", entry->first));
    }
    return parameters;
}

KernelConfig with_parameters(const KernelConfig& config, const ParameterMap& parameters) {
    return family_of(config).with_parameters(config, parameters);
}

ParameterMap parameters_of(const KernelConfig& config) { return family_of(config).parameters(config); }

}  // namespace jitgemm
