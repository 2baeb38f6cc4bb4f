#include "runtime/cache/cache_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace jitgemm {
namespace {

constexpr std::size_t kKeyDigits = 32;
constexpr std::size_t kSuffixDigits = 16;  // of unique_suffix() and of a record
constexpr std::size_t kMostNameLetters = 200;

bool is_hex_digit(char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); }

bool is_hex(std::string_view text, std::size_t digits) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), is_hex_digit);
}

bool has_place_in_a_name(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' || letter == '-';
}

/// Takes away what stands around the middle; false, and nothing taken, when it does not.
bool strip(std::string_view& text, std::string_view before, std::string_view after) {
    if (text.size() < before.size() + after.size() || !text.starts_with(before) || !text.ends_with(after)) return false;
    text.remove_prefix(before.size());
    text.remove_suffix(after.size());
    return true;
}

/// X of ".X.tmp-<16 digits>" (name_beside), else the text itself.
std::string_view finished_name(std::string_view text) {
    constexpr std::string_view kMark = ".tmp-";
    const std::size_t tail = kMark.size() + kSuffixDigits;
    if (text.size() <= tail + 1 || text.front() != '.') return text;
    const std::string_view end = text.substr(text.size() - tail);
    if (!end.starts_with(kMark) || !is_hex(end.substr(kMark.size()), kSuffixDigits)) return text;
    return text.substr(1, text.size() - tail - 1);
}

}  // namespace

std::string entry_prefix(const std::string& kernel_name) {
    std::string prefix = kernel_name.substr(0, kMostNameLetters);
    std::replace_if(
        prefix.begin(), prefix.end(), [](char letter) { return !has_place_in_a_name(letter); }, '_');
    if (prefix.empty() || prefix.front() == '.') prefix.insert(0, "_");
    return prefix + "-";
}

std::string entry_name(const std::string& kernel_name, const KeyFields& key) {
    return entry_prefix(kernel_name) + key_hash(key);
}

bool is_entry_name(std::string_view text) {
    return text.size() >= kKeyDigits + 2 && text[text.size() - kKeyDigits - 1] == '-' &&
           is_hex(key_in_entry_name(text), kKeyDigits);
}

std::string_view key_in_entry_name(std::string_view entry) { return entry.substr(entry.size() - kKeyDigits); }

bool is_lock_name(std::string_view text) { return is_hex(text, kKeyDigits); }

bool is_temporary_name(std::string_view text) {
    return text.size() == kKeyDigits + 1 + kSuffixDigits && text[kKeyDigits] == '-' &&
           is_hex(text.substr(0, kKeyDigits), kKeyDigits) && is_hex(text.substr(kKeyDigits + 1), kSuffixDigits);
}

bool is_failed_source_name(std::string_view text) {
    std::string_view entry = finished_name(text);
    return strip(entry, "", ".cu") && is_entry_name(entry);
}

bool is_record_name(std::string_view text) {
    std::string_view hash = finished_name(text);
    return strip(hash, "nvrtc-", ".json") && is_hex(hash, kSuffixDigits);
}

std::string compiler_name(int nvrtc_version, std::string_view build) {
    return fmt::format("{}-{}", nvrtc_version, build);
}

NamedCompiler parse_compiler_name(std::string_view text) {
    NamedCompiler named;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), named.nvrtc_version);
    const std::string_view build = text.substr(static_cast<std::size_t>(rest - text.data()));
    const bool well_formed = error == std::errc() && named.nvrtc_version > 0 && build.starts_with('-') &&
                             std::all_of(build.begin() + 1, build.end(), is_hex_digit);
    if (!well_formed) return {};
    named.build = build.substr(1);
    return named;
}

}  // namespace jitgemm
