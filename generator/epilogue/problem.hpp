#pragma once

#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// A place in a text. Both count from 1; a column is a character.
struct TextPosition {
    int line = 1;
    int column = 1;

    friend auto operator<=>(const TextPosition&, const TextPosition&) = default;
};

/// A rule of the language that a text breaks.
struct EpilogueProblem {
    TextPosition at;
    std::string message;
};

/// All that is wrong with a text, in the order in which it was found.
class EpilogueProblems {
public:
    void add(TextPosition at, std::string message) { found_.push_back({at, std::move(message)}); }
    [[nodiscard]] bool empty() const { return found_.empty(); }
    /// In the order of the text.
    [[nodiscard]] std::vector<EpilogueProblem> sorted() const;

private:
    std::vector<EpilogueProblem> found_;
};

/// "line 1, column 5: …".
[[nodiscard]] std::string to_string(const EpilogueProblem& problem);

}  // namespace jitgemm
