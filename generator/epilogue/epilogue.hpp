#pragma once

#include "generator/epilogue/check.hpp"
#include "generator/epilogue/graph.hpp"
#include "generator/epilogue/problem.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Counts of the work for one element of D.
struct EpilogueCounts {
    int special = 0;   ///< special-function instructions
    int others = 0;    ///< other instructions
    int matrices = 0;  ///< elements of matrices
    int vectors = 0;   ///< elements of rows and columns
};

/// The meaning of an epilogue's text: immutable, and as cheap to copy and to compare as a pointer. Texts of one meaning
/// share one value, which lives as long as the process: names of operands may be kept as views.
class Epilogue {
public:
    /// For parts in their order of use, with guards.
    explicit Epilogue(EpilogueParts parts);

    [[nodiscard]] const EpilogueParts& parts() const { return value_->parts; }
    /// The canonical form: what is stored, printed and compared.
    [[nodiscard]] const std::string& text() const { return value_->text; }
    /// Eight hexadecimal digits of text(), for a kernel's name.
    [[nodiscard]] const std::string& hash() const { return value_->hash; }
    [[nodiscard]] const EpilogueCounts& counts() const { return value_->counts; }

    /// The same for the transposed product, D^T = B^T · A^T: m and n are exchanged. Matrices lie as D does.
    [[nodiscard]] Epilogue transposed() const;

    /// The one that has this hash, among all that the process has made.
    [[nodiscard]] static std::optional<Epilogue> of_hash(std::string_view hash);

    friend bool operator==(const Epilogue&, const Epilogue&) = default;

private:
    struct Value {
        EpilogueParts parts;
        std::string text;
        std::string hash;
        EpilogueCounts counts;
        mutable std::atomic<const Value*> transposed = nullptr;  ///< set when it is first asked for
    };
    struct Known;
    explicit Epilogue(const Value* value) : value_(value) {}
    static Known& known();
    static const Value* interned(EpilogueParts parts);

    const Value* value_;
};

/// A text that was read. It has a value where it has no problems.
struct EpilogueReading {
    std::optional<Epilogue> epilogue;
    std::vector<EpilogueProblem> problems;
};
[[nodiscard]] EpilogueReading try_read_epilogue(std::string_view text, const EpilogueTypes& types = {});

/// The place where the canonical text first declares or assigns a name, for the start of a message: "epilogue '…', line
/// 1, column 9: ". The first place for a name that the text does not have.
[[nodiscard]] std::string place_in_text(const Epilogue& epilogue, std::string_view name);

/// Throws SpecError with all rules that the text breaks.
[[nodiscard]] Epilogue read_epilogue(std::string_view text, const EpilogueTypes& types = {});

/// Why a product on an architecture can't have this epilogue, with the values.
[[nodiscard]] std::vector<std::string> epilogue_limits(const Epilogue& epilogue, std::string_view arch,
                                                       int compute_capability);

}  // namespace jitgemm
