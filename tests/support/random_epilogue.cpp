#include "tests/support/random_epilogue.hpp"

#include <array>
#include <random>
#include <regex>
#include <string_view>
#include <vector>

namespace jitgemm::testing {
namespace {

class TextMaker {
public:
    explicit TextMaker(std::uint64_t seed) : random_(seed) {
        pairs_ = below(5) == 0 ? (below(2) == 0 ? "left right" : "even odd") : "";
    }

    std::string text() {
        std::string all = "scale: f32; ";
        declares_bias_ = below(2) == 0;
        if (declares_bias_) all += "bias: bf16[n]; ";
        for (std::size_t i = below(3); i > 0; --i) all += local();
        if (!has_pairs() && below(5) == 0) all += read_back();
        if (below(3) == 0) all += "aux" + index() + " = " + value(3) + "; ";
        if (below(3) == 0) all += reduction();
        return all + (has_pairs() && below(2) == 0 ? "d[m,h]" : "d") + " = " + last_value();
    }

private:
    std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
    template <std::size_t kCount>
    std::string pick(const std::array<std::string_view, kCount>& words) {
        return std::string(words[below(kCount)]);
    }
    [[nodiscard]] bool has_pairs() const { return !pairs_.empty(); }
    [[nodiscard]] std::string index() const { return has_pairs() ? "[m,h]" : "[m,n]"; }
    [[nodiscard]] std::string half(bool first) const {
        const std::size_t blank = pairs_.find(' ');
        return first ? pairs_.substr(0, blank) : pairs_.substr(blank + 1);
    }

    std::string local() {
        const std::string name = "local" + std::to_string(locals_.size());
        const std::string statement = name + " = " + value(3) + "; ";
        locals_.push_back(name);
        return statement;
    }
    std::string read_back() {
        const std::string name = "block[m,n/32]";
        const std::string statement = name + " = max(abs(" + value(2) + ") + abs(acc)) / 448; ";
        locals_.push_back(name);
        return statement;
    }
    std::string reduction() {
        constexpr std::array<std::string_view, 3> kKinds{"sum", "max", "min"};
        constexpr std::array<std::string_view, 4> kOver{"[0]", "[m]", "[n]", "[m,n/4]"};
        std::string over = pick(kOver);
        if (has_pairs()) over = std::regex_replace(over, std::regex("n"), "h");
        return "r" + over + " = " + pick(kKinds) + "(" + (has_pairs() ? half(true) + "(acc) * " : "acc * ") +
               restricted(2) + "); ";
    }
    /// Without the block that is read back: no other reduction may go over it.
    std::string restricted(int depth) {
        std::vector<std::string> kept;
        kept.swap(locals_);
        std::string text = value(depth);
        kept.swap(locals_);
        return "(" + text + ")";
    }
    /// With acc, and with each local value.
    std::string last_value() {
        std::string text = has_pairs() ? half(true) + "(acc) + " + half(false) + "(alpha * acc)" : "alpha * acc";
        text += " * scale + " + value(4);
        for (const std::string& name : locals_) text += " - " + name;
        if (declares_bias_) text += " + " + (has_pairs() ? half(false) + "(bias[n])" : "bias[n]");
        return text;
    }

    std::string value(int depth) {
        constexpr std::array<std::string_view, 4> kSigns{" + ", " - ", " * ", " / "};
        if (depth == 0 || below(6) == 0) return leaf();
        switch (below(9)) {
            case 0: return "-(" + value(depth - 1) + ")";
            case 1:
            case 2: return call(depth);
            case 3: return choice(depth);
            case 4: return "(" + value(depth - 1) + ")" + pick(kSigns) + "(" + value(depth - 1) + ")";
            case 5: return value(depth - 1) + " * " + value(depth - 1) + " + " + value(depth - 1);
            default: return value(depth - 1) + pick(kSigns) + value(depth - 1);
        }
    }
    std::string call(int depth) {
        constexpr std::array<std::string_view, 26> kCalls{
            "relu(",  "drelu(", "abs(",  "sigmoid(",   "silu(",         "dsilu(",     "tanh(", "gelu(",     "gelu_erf(",
            "dgelu(", "erf(",   "exp(",  "exp2(",      "log(",          "log2(",      "sqrt(", "rsqrt(",    "f16(",
            "bf16(",  "e4m3(",  "e5m2(", "fast(silu(", "fast(sigmoid(", "fast(tanh(", "s8(",   "fast(gelu("};
        const std::string name = pick(kCalls);
        return name + value(depth - 1) + (name.starts_with("fast") ? "))" : ")");
    }
    std::string choice(int depth) {
        constexpr std::array<std::string_view, 6> kComparisons{" < ", " <= ", " > ", " >= ", " == ", " != "};
        const std::string first = value(depth - 1), second = value(depth - 1);
        switch (below(3)) {
            case 0: return "max(" + first + ", " + second + ")";
            case 1: return "clamp(" + first + ", -2, " + second + ")";
            default: break;
        }
        return "select(" + value(depth - 1) + pick(kComparisons) + value(depth - 1) + ", " + first + ", " + second +
               ")";
    }
    std::string leaf() {
        constexpr std::array<std::string_view, 5> kScalars{"alpha", "beta", "scale", "s[0]", "row[m]"};
        constexpr std::array<std::string_view, 4> kColumns{"acc", "bias[n]", "up[m,n]", "q[m,n/4]"};
        constexpr std::array<std::string_view, 2> kPairs{"gate[m,h]", "wide[h]"};
        if (!locals_.empty() && below(4) == 0) return locals_[below(locals_.size())];
        if (below(5) == 0) return number();
        if (below(3) == 0) return pick(kScalars);
        if (!has_pairs()) return pick(kColumns);
        return below(4) == 0 ? pick(kPairs) : half(below(2) == 0) + "(" + pick(kColumns) + " + 0.5)";
    }
    std::string number() {
        constexpr std::array<std::string_view, 7> kNumbers{"1", "0.5", "2", "0.125", "3.25", "0", "1.5e1"};
        return pick(kNumbers);
    }

    std::mt19937_64 random_;
    std::string pairs_;  ///< "left right", "even odd" or ""
    std::vector<std::string> locals_;
    bool declares_bias_ = false;
};

std::string between_tokens(std::mt19937_64& random) {
    constexpr std::array<std::string_view, 5> kBlanks{"", " ", "  ", "\t", " \r"};
    return std::string(kBlanks[random() % kBlanks.size()]);
}

}  // namespace

std::string random_epilogue(std::uint64_t seed) { return TextMaker(seed).text(); }

std::string mutated_epilogue(std::string text, std::uint64_t seed) {
    constexpr std::array<std::string_view, 24> kPieces{
        "(", ")", "[",    "]",      "=", "==", ";",   "\n",      ",",        "acc",  "d", "h",
        "-", "/", "left", "1e9999", ".", "#",  "max", "t[m,n] ", "\xc3\xa9", "\x01", "b", "sum(acc)"};
    std::mt19937_64 random(seed);
    for (std::size_t i = random() % 4 + 1; i > 0; --i) {
        const std::size_t place = random() % (text.size() + 1);
        const std::size_t size = random() % 6;
        switch (random() % 4) {
            case 0: text.erase(place, size); break;
            case 1: text.insert(place, text.substr(random() % (text.size() + 1), size)); break;
            case 2: text.insert(place, kPieces[random() % kPieces.size()]); break;
            default: text.resize(place); break;
        }
    }
    return text;
}

std::string respelled_epilogue(const std::string& text, std::uint64_t seed) {
    static const std::regex kToken(R"(\d[\d.e]*|\w+|[<>=!]=|\S)");
    std::mt19937_64 random(seed);
    std::string spelled;
    for (std::sregex_iterator token(text.begin(), text.end(), kToken), end; token != end; ++token) {
        const std::string word = (*token)[0].str();
        const bool is_local = word.starts_with("local");
        spelled += is_local                           ? "renamed_" + word.substr(5)
                   : word == ";" && random() % 2 == 0 ? "  # a (comment;\n"
                                                      : word;
        spelled += between_tokens(random);
    }
    return spelled;
}

}  // namespace jitgemm::testing
