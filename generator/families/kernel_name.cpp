#include "generator/families/kernel_name.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "generator/families/family.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

namespace jitgemm {
namespace {

constexpr std::string_view kAlign = "_align";
constexpr std::string_view kCAsD = "c";  // has D's type
constexpr std::string_view kEpilogue = "ep";
constexpr std::string_view kPrepared = "prepared";
constexpr std::string_view kBatch = "batch";
constexpr std::string_view kNested = "nested";      // a batch with two dimensions
constexpr std::string_view kPointers = "pointers";  // a batch with arrays of addresses
constexpr std::string_view kGroups = "groups";
constexpr std::string_view kGroupsOfK = "kgroups";
constexpr std::string_view kSymmetric = "symmetric";
constexpr std::string_view kGathered = "gathered";  // groups of rows whose A is gathered
constexpr std::size_t kHashDigits = 8;
constexpr int kUsualAlignment = 16;

std::vector<std::string_view> type_names() {
    std::vector<std::string_view> names;
    for (const DataTypeInfo& row : data_type_table()) names.push_back(row.name);
    return names;
}

/// The tokens of one kernel name, taken apart with messages that name the token and what should stand there.
class NameParser {
public:
    explicit NameParser(std::string_view name) : name_(name) {}

    KernelId parse() const {
        const Family& family = family_at_front();
        std::string_view text = name_.substr(std::min(name_.size(), family.name_in_kernels.size() + 1));
        if (text.empty()) fail("ends after the family: expected the type of A");
        const std::string_view alignments = take_alignments(text);
        TextReader tokens(text);
        GemmSignature signature = signature_at_front(tokens);
        set_alignments(alignments, signature);
        const KernelId id{.signature = signature, .config = config_of(family, tokens.rest())};
        if (const std::string canonical = kernel_name(id); canonical != name_)
            fail("the canonical name of this kernel is " + canonical);
        return id;
    }

private:
    [[noreturn]] void fail(const std::string& reason) const {
        throw ConfigError(fmt::format("kernel name '{}'", name_), {reason});
    }

    /// Family names hold underscores themselves and begin alike, so the name's front is held against each of them; the
    /// longest that fits is meant.
    const Family& family_at_front() const {
        const Family* longest = nullptr;
        for (const Family& family : family_table()) {
            const std::string_view name = family.name_in_kernels;
            const bool fits = name_ == name || name_.starts_with(std::string(name) + '_');
            if (fits && (longest == nullptr || name.size() > longest->name_in_kernels.size())) longest = &family;
        }
        if (longest != nullptr) return *longest;
        return naming_the_kernel([&]() -> const Family& { return find_family(front_before_type()); });  // throws
    }

    /// Returns the probable family: all before the first token that is a type, or the first token.
    std::string_view front_before_type() const {
        const std::size_t end = name_.find('_');
        for (std::size_t at = end; at != std::string_view::npos; at = name_.find('_', at + 1)) {
            const std::string_view token = name_.substr(at + 1, name_.find('_', at + 1) - at - 1);
            if (parse_data_type(token)) return name_.substr(0, at);
        }
        return name_.substr(0, end);
    }

    GemmSignature signature_at_front(TextReader& tokens) const {
        GemmSignature signature;
        if (parse_gemm_layout(TextReader(tokens).take_token()))
            fail(
                "the type of A is expected before the layout (names that began with the layout are of earlier "
                "versions)");
        signature.a = type_of(tokens.take_token(), "");
        signature.b = take_type(tokens, "b-").value_or(signature.a);
        signature.layout = layout_token(tokens.take_token());
        const bool c_as_d = take_word(tokens, kCAsD);
        signature.c = take_type(tokens, "c-");
        signature.d = take_type(tokens, "d-").value_or(signature.a);
        if (c_as_d) signature.c = signature.d;
        signature.accumulator = take_type(tokens, "acc").value_or(default_accumulator(signature.a));
        signature.math = take_math(tokens);
        signature.prepared = take_prepared(tokens);
        signature.symmetric = take_word(tokens, kSymmetric);
        signature.gathered = take_word(tokens, kGathered);
        signature.grouped = signature.gathered || take_word(tokens, kGroups);
        signature.grouped_by_k = !signature.grouped && take_word(tokens, kGroupsOfK);
        const bool has_groups = signature.grouped || signature.grouped_by_k;
        signature.pointers = !has_groups && take_word(tokens, kPointers);
        signature.nested = !has_groups && !signature.pointers && take_word(tokens, kNested);
        signature.batched = has_groups || signature.pointers || signature.nested || take_word(tokens, kBatch);
        signature.epilogue = take_epilogue(tokens);
        return signature;
    }

    GemmLayout layout_token(std::string_view token) const {
        if (const auto layout = parse_gemm_layout(token)) return *layout;
        fail(fmt::format("'{}': expected a layout, one of {}", token, join_names(kLayoutNames)));
    }

    static bool take_word(TextReader& tokens, std::string_view word) {
        TextReader ahead = tokens;
        if (ahead.take_token() != word) return false;
        tokens = ahead;
        return true;
    }

    /// The type of the next token if that has the prefix, which is then consumed.
    std::optional<DataType> take_type(TextReader& tokens, std::string_view prefix) const {
        TextReader ahead = tokens;
        const std::string_view token = ahead.take_token();
        if (!token.starts_with(prefix)) return std::nullopt;
        tokens = ahead;
        return type_of(token, prefix);
    }

    static Math take_math(TextReader& tokens) {
        TextReader ahead = tokens;
        const std::optional<Math> math = parse_math(ahead.take_token());
        if (math.value_or(Math::ieee) == Math::ieee) return Math::ieee;
        tokens = ahead;
        return *math;
    }

    /// "preparedb"
    static Prepared take_prepared(TextReader& tokens) {
        TextReader ahead = tokens;
        const std::string_view token = ahead.take_token();
        if (!token.starts_with(kPrepared)) return Prepared::none;
        const auto found = std::ranges::find(kPreparedNames, token.substr(kPrepared.size()));
        if (found == kPreparedNames.end() || found == kPreparedNames.begin()) return Prepared::none;
        tokens = ahead;
        return static_cast<Prepared>(found - kPreparedNames.begin());
    }

    /// Of a text that a problem of this process has, "ep2a1ce583".
    std::optional<Epilogue> take_epilogue(TextReader& tokens) const {
        TextReader ahead = tokens;
        const std::string_view token = ahead.take_token();
        if (!token.starts_with(kEpilogue) || token.size() != kEpilogue.size() + kHashDigits) return std::nullopt;
        tokens = ahead;
        if (const auto known = Epilogue::of_hash(token.substr(kEpilogue.size()))) return known;
        fail(fmt::format("'{}' stands for the text of an epilogue, and no problem before it has that text", token));
    }

    DataType type_of(std::string_view token, std::string_view prefix) const {
        const std::string_view name = token.substr(prefix.size());
        if (const auto type = parse_data_type(name)) return *type;
        const std::vector<std::string_view> known = type_names();
        fail(fmt::format("'{}': expected {}<type>, the type one of {}{}", token, prefix, join_names(known),
                         nearest_hint(name, known)));
    }

    /// "2.2.16" or "2", cut off the end of the text with what stands before it; empty where every alignment is the
    /// usual one.
    std::string_view take_alignments(std::string_view& text) const {
        const std::size_t at = text.rfind(kAlign);
        if (at == std::string_view::npos) return {};
        const std::string_view numbers = text.substr(at + kAlign.size());
        if (numbers.empty()) fail_alignment(numbers);
        text = text.substr(0, at);
        return numbers;
    }

    void set_alignments(std::string_view text, GemmSignature& signature) const {
        signature.align_a = signature.align_b = signature.align_d = kUsualAlignment;
        if (text.empty()) return;
        TextReader numbers(text);
        signature.align_a = alignment(text, numbers, signature.a);
        if (numbers.done()) {
            signature.align_b = alignment_of(text, signature.align_a, signature.b);
            signature.align_d = alignment_of(text, signature.align_a, signature.d);
            return;
        }
        if (!numbers.take(".")) fail_alignment(text);
        signature.align_b = alignment(text, numbers, signature.b);
        if (!numbers.take(".")) fail_alignment(text);
        signature.align_d = alignment(text, numbers, signature.d);
        if (!numbers.done()) fail_alignment(text);
    }

    int alignment(std::string_view text, TextReader& numbers, DataType type) const {
        int value = 0;
        if (!numbers.take_number(value) || !std::has_single_bit(static_cast<unsigned>(value)) ||
            value > kUsualAlignment)
            fail_alignment(text);
        return alignment_of(text, value, type);
    }

    int alignment_of(std::string_view text, int value, DataType type) const {
        if (value < bytes(type))
            fail(fmt::format("'align{}': {} is less than the {} bytes of a {} element", text, value, bytes(type),
                             to_string(type)));
        return value;
    }

    [[noreturn]] void fail_alignment(std::string_view text) const {
        fail(fmt::format("'align{}': expected align<A>.<B>.<D>, or align<all>, each 1, 2, 4, 8 or 16 bytes", text));
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

    std::string_view name_;
};

std::string token_unless(DataType usual, std::string_view prefix, DataType type) {
    return type == usual ? std::string() : fmt::format("_{}{}", prefix, to_string(type));
}

std::string c_token(const GemmSignature& s) {
    if (!s.c) return {};
    return *s.c == s.d ? fmt::format("_{}", kCAsD) : token_unless(s.d, "c-", *s.c);
}

std::string math_token(const GemmSignature& s) {
    return s.math == Math::ieee ? std::string() : fmt::format("_{}", to_string(s.math));
}

std::string prepared_token(const GemmSignature& s) {
    return s.prepared == Prepared::none ? std::string() : fmt::format("_{}{}", kPrepared, to_string(s.prepared));
}

std::string batch_token(const GemmSignature& s) {
    const std::string symmetric = s.symmetric ? fmt::format("_{}", kSymmetric) : std::string();
    const std::string_view problems = s.gathered       ? kGathered
                                      : s.grouped      ? kGroups
                                      : s.grouped_by_k ? kGroupsOfK
                                      : s.pointers     ? kPointers
                                      : s.nested       ? kNested
                                                       : kBatch;
    return symmetric + (s.batched ? fmt::format("_{}", problems) : std::string());
}

std::string epilogue_token(const GemmSignature& s) {
    return s.epilogue ? fmt::format("_{}{}", kEpilogue, s.epilogue->hash()) : std::string();
}

std::string alignment_token(const GemmSignature& s) {
    if (s.align_a == s.align_b && s.align_b == s.align_d)
        return s.align_a == kUsualAlignment ? std::string() : fmt::format("{}{}", kAlign, s.align_a);
    return fmt::format("{}{}.{}.{}", kAlign, s.align_a, s.align_b, s.align_d);
}

}  // namespace

std::string kernel_name(const KernelId& id) {
    const GemmSignature& s = id.signature;
    const Family& family = family_of(id.config);
    return fmt::format("{}_{}{}_{}{}{}{}{}{}{}{}_{}{}", family.name_in_kernels, to_string(s.a),
                       token_unless(s.a, "b-", s.b), to_string(s.layout), c_token(s), token_unless(s.a, "d-", s.d),
                       token_unless(default_accumulator(s.a), "acc", s.accumulator), math_token(s), prepared_token(s),
                       batch_token(s), epilogue_token(s), family.config_name(id.config), alignment_token(s));
}

KernelId parse_kernel_name(std::string_view name) { return NameParser(name).parse(); }

KernelConfig config_of_kernel(const Problem& problem, const std::string& kernel) {
    const KernelId id = parse_kernel_name(kernel);
    const KernelId wanted{problem.signature, id.config};
    if (wanted == id) return id.config;
    throw ConfigError(kernel + " does not compute " + to_string(problem.asked),
                      {"for this problem that config is called " + kernel_name(wanted)});
}

}  // namespace jitgemm
