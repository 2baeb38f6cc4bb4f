#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <array>

namespace jitgemm::fuzz {
namespace {

constexpr std::size_t kLongestInput = 1 << 17;
constexpr const char* kDigits = "0123456789";

const std::array<std::string, 12> kNumbers{"0",          "1",          "-1",
                                           "7",          "65536",      "2147483647",
                                           "2147483648", "4294967296", "9223372036854775807",
                                           "1e300",      "0.5",        "99999999999999999999"};

}  // namespace

std::string Mutator::next() {
    std::string text = known_.empty() ? std::string() : known_[below(known_.size())];
    for (std::size_t changes = 1 + below(8); changes > 0; --changes) change(text);
    text.resize(std::min(text.size(), kLongestInput));
    return text;
}

std::string Mutator::piece_of(const std::string& text) {
    const std::size_t begin = below(text.size());
    return text.substr(begin, 1 + below(std::min<std::size_t>(64, text.size() - begin)));
}

void Mutator::change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (text.empty() ? 1 : below(7)) {
        case 0: text[at % text.size()] = static_cast<char>(text[at % text.size()] ^ (1 << below(8))); break;
        case 1: text.insert(at, 1, static_cast<char>(below(256))); break;
        case 2: text.erase(at % text.size(), 1 + below(32)); break;
        case 3: text.insert(at, piece_of(text)); break;
        case 4: text.insert(at, piece_of(known_[below(known_.size())])); break;
        case 5: change_number(text); break;
        default: {  // one piece many times: what is read by recursion nests
            const std::string piece = piece_of(text).substr(0, 4);
            for (std::size_t times = below(2000); times > 0; --times) text.insert(std::min(at, text.size()), piece);
        }
    }
}

void Mutator::change_number(std::string& text) {
    const std::size_t begin = text.find_first_of(kDigits, below(text.size()));
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of(kDigits, begin), text.size());
    text.replace(begin, end - begin, kNumbers.at(below(kNumbers.size())));
}

}  // namespace jitgemm::fuzz
