#include "generator/base/gpu_names.hpp"

#include "generator/text/nearest_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace jitgemm {
namespace {

/// Words that the driver adds to the name of a GPU.
constexpr std::array<std::string_view, 19> kWordsOfNoGpu{
    "nvidia", "geforce", "tesla", "quadro",     "jetson",  "agx",         "nvgpu",  "sxm",       "ac",   "hbm2",
    "hbm2e",  "hbm3",    "hbm3e", "generation", "edition", "workstation", "server", "blackwell", "gddr6"};

bool is_letter_or_digit(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }
bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char letter : lower_case(name)) {
        if (is_letter_or_digit(letter))
            words.back() += letter;
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

bool is_all_digits(std::string_view word) { return !word.empty() && std::ranges::all_of(word, is_digit); }

/// "80gb", "144g".
bool is_memory(std::string_view word) {
    const std::size_t unit = std::min(word.find('g'), word.size());
    return is_all_digits(word.substr(0, unit)) && (word.substr(unit) == "g" || word.substr(unit) == "gb");
}

/// "sxm4" is "sxm".
bool names_no_gpu(std::string_view word) {
    if (word.starts_with("sxm") && is_all_digits(word.substr(3))) return true;
    return std::ranges::find(kWordsOfNoGpu, word) != kWordsOfNoGpu.end();
}

/// "RTX A6000" is the A6000; the 6000 of "RTX 6000" is no GPU without it.
bool is_brand(const std::vector<std::string>& words, std::size_t at) {
    if (words[at] != "rtx" || at + 1 == words.size()) return false;
    const std::string& next = words[at + 1];
    return next.front() == 'a' && is_all_digits(std::string_view(next).substr(1));
}

}  // namespace

GpuNameParts gpu_name_parts(std::string_view name) {
    const std::vector<std::string> words = words_of(name);
    GpuNameParts parts;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (names_no_gpu(words[i]) || is_brand(words, i)) continue;
        parts.with_memory += words[i];
        if (!is_memory(words[i])) parts.model += words[i];
    }
    return parts;
}

}  // namespace jitgemm
