#pragma once

#include <random>
#include <string>
#include <vector>

namespace jitgemm::fuzz {

/// Makes inputs of known ones: bits and bytes changed, pieces left out, said twice, moved or taken from another input,
/// numbers in the place of numbers. The same seed makes the same ones.
class Mutator {
public:
    Mutator(std::vector<std::string> known, std::uint64_t seed) : known_(std::move(known)), random_(seed) {}

    /// Of one of the known, changed in up to eight places.
    [[nodiscard]] std::string next();

private:
    [[nodiscard]] std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }
    [[nodiscard]] std::string piece_of(const std::string& text);
    void change(std::string& text);
    void change_number(std::string& text);

    std::vector<std::string> known_;
    std::mt19937_64 random_;
};

}  // namespace jitgemm::fuzz
