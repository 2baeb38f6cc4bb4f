#include "runtime/emulator/ptx_reader.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>

namespace jitgemm::emulator::ptx {

bool TokenReader::accept(char symbol) {
    if (!peek().is(symbol)) return false;
    take();
    return true;
}

bool TokenReader::accept_dotted(std::string_view word) {
    if (!peek().is_dotted(word)) return false;
    take();
    return true;
}

void TokenReader::fail(const std::string& message) const { throw PtxError(line_, message); }

void TokenReader::expect(char symbol) {
    if (!accept(symbol)) fail(fmt::format("expected '{}' before \"{}\"", symbol, peek().text));
}

std::string TokenReader::expect_identifier() {
    if (peek().kind != TokenKind::identifier) fail(fmt::format("expected a name, not \"{}\"", peek().text));
    return std::string(take().text);
}

std::int64_t TokenReader::expect_integer() {
    bool negative = false;
    while (peek().is('-') || peek().is('+')) negative ^= take().is('-');
    if (peek().kind != TokenKind::integer) fail(fmt::format("expected an integer, not \"{}\"", peek().text));
    const std::int64_t value = take().value;
    return negative ? std::bit_cast<std::int64_t>(0 - std::bit_cast<std::uint64_t>(value)) : value;
}

void TokenReader::declare_bytes(std::int64_t bytes) {
    if (bytes > bytes_left_) fail(fmt::format("variables of more than {} bytes in all", kMostDeclaredBytes));
    bytes_left_ -= bytes;
}

void TokenReader::declare_registers(std::int64_t count) {
    if (count < 0 || count > registers_left_) fail(fmt::format("more than {} registers in all", kMostRegisters));
    registers_left_ -= count;
}

void TokenReader::skip_integers() {
    if (peek().kind != TokenKind::integer) return;
    do {
        static_cast<void>(expect_integer());
    } while (accept(','));
}

void TokenReader::skip_braces() {
    expect('{');
    for (int depth = 1; depth > 0;) {
        const Token token = take();
        if (token.kind == TokenKind::end) fail("a '{' without its '}'");
        depth += token.is('{') ? 1 : token.is('}') ? -1 : 0;
    }
}

void TokenReader::skip_statement() {
    while (!peek().is(';')) {
        if (take().kind == TokenKind::end) fail("a statement without its ';'");
    }
    take();
}

std::string TokenReader::text_between(std::size_t begin, std::size_t end) const {
    std::string folded;
    for (const char c : lexer_.text().substr(begin, end - begin)) {
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!blank) folded += c;
        if (blank && !folded.empty() && folded.back() != ' ') folded += ' ';
    }
    return folded;
}

namespace {

std::optional<StateSpace> variable_space(std::string_view word) {
    if (word == "global") return StateSpace::global;
    if (word == "shared") return StateSpace::shared;
    if (word == "const") return StateSpace::constant;
    if (word == "local") return StateSpace::local;
    if (word == "param") return StateSpace::param;
    return std::nullopt;
}

struct ElementType {
    int bytes = 0;
    int count = 1;  ///< of a vector type
    bool real = false;
};

int parse_alignment(TokenReader& reader) {
    constexpr std::int64_t kLargest = 1 << 16;
    const std::int64_t alignment = reader.expect_integer();
    if (alignment < 1 || alignment > kLargest || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
        reader.fail(fmt::format("an alignment of {} is no power of two up to {}", alignment, kLargest));
    return static_cast<int>(alignment);
}

/// ".align 16 .v4 .f32", ".u64 .ptr .global .align 1"
ElementType parse_element_type(TokenReader& reader, Variable& variable) {
    ElementType type;
    while (reader.peek().kind == TokenKind::dotted) {
        const std::string word(reader.take().text);
        if (word == "align") {
            const int alignment = parse_alignment(reader);
            if (type.bytes == 0) variable.alignment = alignment;  // behind .ptr: of what is pointed to
        } else if (word == "v2" || word == "v4" || word == "v8") {
            type.count = word[1] - '0';
        } else if (type_bits(word) >= 8) {
            type.bytes = type_bits(word) / 8;
            type.real = word.front() == 'f';
        } else if (word != "ptr" && !variable_space(word)) {
            reader.fail(fmt::format("declarations with .{} are not supported", word));
        }
    }
    if (type.bytes == 0) reader.fail("a variable without a type");
    return type;
}

std::int64_t parse_extents(TokenReader& reader, Variable& variable) {
    std::int64_t count = 1;
    while (reader.accept('[')) {
        if (reader.accept(']')) {
            count = 0;
            continue;
        }
        const std::int64_t extent = reader.expect_integer();
        if (extent < 0) reader.fail(fmt::format("variable {} has a negative extent", variable.name));
        const bool countable = extent <= kMostDeclaredBytes;
        if (countable) count *= extent;
        if (!countable || count > kMostDeclaredBytes)
            reader.fail(fmt::format("variable {} is too large: a module declares up to {} bytes", variable.name,
                                    kMostDeclaredBytes));
        reader.expect(']');
    }
    return count;
}

std::uint64_t element_bits(TokenReader& reader, const ElementType& type) {
    const TokenKind kind = reader.peek().kind;
    if (kind == TokenKind::real32) return static_cast<std::uint64_t>(reader.take().value);
    if (kind == TokenKind::real64) {
        const std::int64_t bits = reader.take().value;
        if (type.bytes == 8) return static_cast<std::uint64_t>(bits);
        return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    }
    return static_cast<std::uint64_t>(reader.expect_integer());
}

void parse_elements(TokenReader& reader, Variable& variable, const ElementType& type, int nesting) {
    if (reader.accept('{')) {
        if (nesting == kDeepestNesting) reader.fail(fmt::format("values nest deeper than {} braces", kDeepestNesting));
        do {
            parse_elements(reader, variable, type, nesting + 1);
        } while (reader.accept(','));
        reader.expect('}');
        return;
    }
    if (reader.peek().kind == TokenKind::identifier) {
        reader.fail(fmt::format("variable {} starts with an address, which is not supported", variable.name));
    }
    const std::uint64_t bits = element_bits(reader, type);
    for (int byte = 0; byte < type.bytes; ++byte) {
        variable.initial.push_back(static_cast<std::byte>((bits >> (8 * byte)) & 0xFFU));
    }
}

void parse_initial(TokenReader& reader, Variable& variable, const ElementType& type, bool unsized) {
    if (!reader.accept('=')) return;
    parse_elements(reader, variable, type, 0);
    const auto written = static_cast<std::int64_t>(variable.initial.size());
    if (unsized) variable.bytes = written;
    if (written > variable.bytes)
        reader.fail(fmt::format("variable {} has more initial values than room", variable.name));
    variable.initial.resize(static_cast<std::size_t>(variable.bytes));
}

}  // namespace

bool is_variable_space(const Token& token) {
    return token.kind == TokenKind::dotted && variable_space(token.text).has_value();
}

Variable parse_variable(TokenReader& reader, bool external) {
    Variable variable;
    variable.line = reader.peek().line;
    variable.space = *variable_space(reader.take().text);
    variable.external = external;
    const ElementType type = parse_element_type(reader, variable);
    variable.alignment = std::max(variable.alignment, type.bytes * type.count);
    variable.name = reader.expect_identifier();
    const std::int64_t count = parse_extents(reader, variable);
    variable.bytes = count * type.count * type.bytes;
    reader.declare_bytes(variable.bytes);
    parse_initial(reader, variable, type, count == 0);
    return variable;
}

}  // namespace jitgemm::emulator::ptx
