#pragma once

#include "generator/epilogue/check.hpp"

#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A value of a text: its node, and the indices that it depends on.
struct CheckedValue {
    std::int32_t node = -1;  ///< -1: it breaks a rule, which is noted
    bool has_rows = false;
    char columns = ' ';  ///< 'n', 'h', or ' ' where it is the same in all
    [[nodiscard]] bool is_broken() const { return node < 0; }
};

/// The names that earlier statements have declared.
struct EpilogueSymbols {
    struct Declared {
        TextPosition at;
        DataType type = DataType::f32;
        std::optional<EpilogueIndex> index;
        bool is_used = false;
    };
    struct Local {
        TextPosition at;
        CheckedValue value;
        bool is_used = false;
    };

    EpilogueSymbols(const EpilogueTypes& all_types, EpilogueProblems& all_problems)
        : types(all_types), problems(all_problems) {}

    const EpilogueTypes& types;
    EpilogueProblems& problems;
    EpilogueGraph graph;
    std::map<std::string_view, Declared> declared;
    std::map<std::string_view, Local> locals;
    std::set<std::string_view> broken;  ///< their statements could not be read, or no text can use these names
    std::string_view assigned;          ///< by the statement that is being checked
    std::vector<EpilogueOperand> operands;
    std::vector<EpilogueOutput> outputs;
    std::vector<TextPosition> outputs_at;
    EpiloguePairs pairs = EpiloguePairs::none;
    std::string_view paired_by;  ///< the first call that made pairs: "left(acc)"

    [[nodiscard]] int find_operand(std::string_view name) const {
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (operands[i].name == name) return static_cast<int>(i);
        return -1;
    }
    [[nodiscard]] int find_output(std::string_view name) const {
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (outputs[i].name == name) return static_cast<int>(i);
        return -1;
    }
    /// Declared, given by the caller, or the default.
    [[nodiscard]] DataType type_of(std::string_view name, DataType otherwise) {
        const auto found = declared.find(name);
        if (found != declared.end()) {
            found->second.is_used = true;
            return found->second.type;
        }
        const auto given = types.given.find(name);
        return given == types.given.end() ? otherwise : given->second;
    }
};

}  // namespace jitgemm
