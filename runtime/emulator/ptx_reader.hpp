#pragma once

#include "runtime/emulator/ptx.hpp"
#include "runtime/emulator/ptx_lexer.hpp"

#include <string>

namespace jitgemm::emulator::ptx {

/// The small steps a PTX parser is made of. Every one throws PtxError where the text goes another way.
class TokenReader {
public:
    explicit TokenReader(Lexer& lexer) : lexer_(lexer) {}

    [[nodiscard]] const Token& peek() const { return lexer_.peek(); }
    Token take() {
        line_ = lexer_.peek().line;
        return lexer_.take();
    }
    bool accept(char symbol);
    bool accept_dotted(std::string_view word);
    void expect(char symbol);
    std::string expect_identifier();
    std::int64_t expect_integer();  ///< with any number of signs before it
    void skip_integers();           ///< "128, 1, 1"
    void skip_braces();             ///< {…} with what is nested in it
    void skip_statement();          ///< up to and with the next ';'
    [[noreturn]] void fail(const std::string& message) const;
    [[nodiscard]] std::string text_between(std::size_t begin, std::size_t end) const;  ///< blanks folded to one

private:
    Lexer& lexer_;
    int line_ = 1;  ///< of the last token taken, where mistakes are told
};

[[nodiscard]] bool is_variable_space(const Token& token);

/// One declaration from its state space on, up to what separates it from the next: ".shared .align 16 .b8 name[512] = {…}".
[[nodiscard]] Variable parse_variable(TokenReader& reader, bool external);

/// A body from its '{' to its '}'. Names of variables and functions outside it stay names.
void parse_body(TokenReader& reader, Function& function);

}  // namespace jitgemm::emulator::ptx
