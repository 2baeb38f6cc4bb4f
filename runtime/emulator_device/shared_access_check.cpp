#include "runtime/emulator_device/shared_access_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace jitgemm {
namespace {

using emulator::Counters;
using emulator::InstructionKind;
using emulator::LineTally;

constexpr double kRoundingSlack = 1e-9;

/// The kind of an access ("cp.async", "ld.shared", "st.shared" or "ldmatrix") and its width. The width is in bytes per
/// lane. For ldmatrix it is the number of matrices, negative if they are transposed.
struct AccessClass {
    std::string_view kind;
    int width = 0;
    friend bool operator==(const AccessClass&, const AccessClass&) = default;
};

std::optional<std::string_view> kind_of(InstructionKind kind) {
    switch (kind) {
        case InstructionKind::matrix_load: return "ldmatrix";
        case InstructionKind::async_copy: return "cp.async";
        case InstructionKind::shared_load: return "ld.shared";
        case InstructionKind::shared_store: return "st.shared";
        default: return std::nullopt;
    }
}

/// The digits from `position` on, 0 where there is none.
int number_at(std::string_view text, std::size_t position) {
    int number = 0;
    for (; position < text.size() && std::isdigit(static_cast<unsigned char>(text[position])) != 0; ++position)
        number = 10 * number + (text[position] - '0');
    return number;
}

/// The number right behind `word`, or `otherwise`.
int number_behind(std::string_view text, std::string_view word, int otherwise) {
    const std::size_t found = text.find(word);
    return found == std::string_view::npos ? otherwise : number_at(text, found + word.size());
}

int matrices(std::string_view text) {
    const int count = number_behind(text, ".x", 1);
    return text.find(".trans") == std::string_view::npos ? count : -count;
}

/// Of "ld.shared.v4.b32 {…}": vector length times the bits at the end of the mnemonic.
int vector_bytes(std::string_view text) {
    const std::string_view mnemonic = text.substr(0, text.find_first_of(" \t"));
    std::size_t digits = mnemonic.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(mnemonic[digits - 1])) != 0) --digits;
    return number_behind(mnemonic, ".v", 1) * number_at(mnemonic, digits) / 8;
}

/// Of "cp.async.ca.shared.global [%r1], [%rd2], 16, %r3;": the operand behind the second address.
int copied_bytes(std::string_view text) {
    const std::size_t source_end = text.find(']', text.find(']') + 1);
    const std::size_t digits = text.find_first_of("0123456789", source_end);
    return digits == std::string_view::npos ? 0 : number_at(text, digits);
}

/// The instruction without its guard.
std::string_view unguarded(std::string_view text) {
    if (!text.starts_with('@')) return text;
    const std::size_t blank = text.find_first_of(" \t");
    const std::size_t first = text.find_first_not_of(" \t", blank);
    return first == std::string_view::npos ? text : text.substr(first);
}

std::optional<AccessClass> class_of(const LineTally& line) {
    const auto kind = kind_of(line.kind);
    if (!kind) return std::nullopt;
    const std::string_view text = unguarded(line.text);
    if (text.starts_with("wmma.")) return std::nullopt;  // which lane reads what is the emulator's own choice
    if (line.kind == InstructionKind::matrix_load) return AccessClass{*kind, matrices(text)};
    if (line.kind == InstructionKind::async_copy) return AccessClass{*kind, copied_bytes(text)};
    return AccessClass{*kind, vector_bytes(text)};
}

/// An access that names this type is no load that a compiler made: those of floats are `ld.shared.f32`.
constexpr std::string_view kWordLoad = "ld.shared.b32";

/// Of SharedAccess::instruction: "ldmatrix.x4.trans", "cp.async of 16 bytes", "ld.shared.b32 of 4 bytes".
AccessClass class_of(const SharedAccess& access) {
    const std::string_view text = access.instruction;
    if (text.starts_with("ldmatrix")) return {"ldmatrix", matrices(text)};
    if (text.starts_with(kWordLoad)) return {kWordLoad, 4};
    constexpr std::size_t kKindLetters = std::string_view("ld.shared").size();
    const bool copy = text.starts_with("cp.async");
    return {copy                     ? "cp.async"
            : text.starts_with("st") ? "st.shared"
                                     : text.substr(0, kKindLetters),
            number_behind(text, "of ", 0)};
}

std::string place(const LineTally& line) {
    return line.source_line > 0 ? fmt::format("line {}", line.source_line) : fmt::format("PTX line {}", line.ptx_line);
}

/// The accesses of a class, summed.
struct Expectation {
    std::string what;
    int worst = 0;  ///< wavefronts of one execution
};

std::optional<Expectation> expectation_of(std::span<const SharedAccess> accesses, const AccessClass& wanted) {
    Expectation sum;
    for (const SharedAccess& access : accesses) {
        if (class_of(access) != wanted) continue;
        sum.what += (sum.what.empty() ? "" : ", ") + access.what;
        sum.worst = std::max(sum.worst, access.worst.count);
    }
    return sum.what.empty() ? std::nullopt : std::optional(sum);
}

/// Accesses twice or four times as wide as one that is named are neighbours of it that the compiler merged: each may
/// take as many wavefronts as those it stands for, also where another access is named that is as wide.
std::optional<Expectation> expectation_of_merged(std::span<const SharedAccess> accesses, const AccessClass& wanted) {
    for (const int merged : {2, 4}) {
        if (wanted.kind == "ldmatrix" || wanted.width % merged != 0) continue;
        std::optional<Expectation> one = expectation_of(accesses, {wanted.kind, wanted.width / merged});
        if (!one) continue;
        one->worst *= merged;
        return one;
    }
    return std::nullopt;
}

std::string line_excess(const LineTally& line, std::span<const SharedAccess> expected) {
    const auto accesses = class_of(line);
    if (!accesses || line.tally.warps == 0) return {};
    std::optional<Expectation> expectation;
    if (unguarded(line.text).starts_with(kWordLoad)) expectation = expectation_of(expected, {kWordLoad, 4});
    if (!expectation) {
        expectation = expectation_of(expected, *accesses);
        const std::optional<Expectation> merged = expectation_of_merged(expected, *accesses);
        if (merged && (!expectation || merged->worst > expectation->worst)) expectation = merged;
    }
    if (!expectation) return {};
    const double mean = static_cast<double>(line.tally.wavefronts) / static_cast<double>(line.tally.warps);
    if (mean <= expectation->worst + kRoundingSlack) return {};
    return fmt::format("{}: {} takes {:.2f} wavefronts, {} takes {}", place(line), line.text, mean, expectation->what,
                       expectation->worst);
}

}  // namespace

std::vector<std::string> excess_wavefronts(const Counters& counters, std::span<const SharedAccess> expected) {
    std::vector<std::string> excess;
    for (const LineTally& line : counters.lines) {
        if (std::string text = line_excess(line, expected); !text.empty()) excess.push_back(std::move(text));
    }
    return excess;
}

}  // namespace jitgemm
