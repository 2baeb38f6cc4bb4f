#pragma once

#include "generator/base/renderer.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace jitgemm {

/// One text of a statement.
struct StatementChoice {
    bool holds;
    std::string_view text;
};

/// Adds a statement: of each list, the first text whose condition holds.
class AddStatement {
public:
    using Choices = std::initializer_list<StatementChoice>;

    explicit AddStatement(RenderInput& input) : input_(input) {}
    void operator()(const char* name, Choices first, Choices second = {}, Choices third = {}) const {
        std::string& text = input_.generated[name];
        for (const Choices& choices : {first, second, third})
            for (const StatementChoice& choice : choices)
                if (choice.holds) {
                    text += choice.text;
                    break;
                }
    }

private:
    RenderInput& input_;
};

}  // namespace jitgemm
