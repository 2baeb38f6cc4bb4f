#pragma once

#include "runtime/emulator/ptx.hpp"
#include "runtime/emulator/ptx_lexer.hpp"

#include <string>

namespace jitgemm::emulator::ptx {

/// Most bytes that one module may declare. It is far beyond any GEMM kernel's (NVRTC's largest have some 10,000
/// registers).
inline constexpr std::int64_t kMostDeclaredBytes = std::int64_t{1} << 28;
inline constexpr std::int64_t kMostRegisters = std::int64_t{1} << 18;
inline constexpr int kDeepestNesting = 64;  ///< of braces, and of lists within operands

/// The small steps of a PTX parser. Each throws PtxError if the text differs.
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
    void skip_braces();             ///< {…} with its nested braces
    void skip_statement();          ///< up to the next ';', included
    /// Takes bytes of variables, or registers, from a module's allowance, and fails if it is spent. A short text can
    /// declare any amount, and all of it would become the host's memory.
    void declare_bytes(std::int64_t bytes);
    void declare_registers(std::int64_t count);
    [[noreturn]] void fail(const std::string& message) const;
    [[nodiscard]] std::string text_between(std::size_t begin, std::size_t end) const;  ///< blanks folded to one

private:
    Lexer& lexer_;
    int line_ = 1;  ///< of the last token taken, for error messages
    std::int64_t bytes_left_ = kMostDeclaredBytes;
    std::int64_t registers_left_ = kMostRegisters;
};

[[nodiscard]] bool is_variable_space(const Token& token);

/// One declaration from its state space to its end: ".shared .align 16 .b8 name[512] = {…}".
[[nodiscard]] Variable parse_variable(TokenReader& reader, bool external);

/// A body from its '{' to its '}'. Names of variables and functions outside it stay names.
void parse_body(TokenReader& reader, Function& function);

}  // namespace jitgemm::emulator::ptx
