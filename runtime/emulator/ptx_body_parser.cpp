#include "runtime/emulator/ptx_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <unordered_map>

namespace jitgemm::emulator::ptx {
namespace {

/// "%r<685>" declares %r0 to %r684.
struct RegisterFamily {
    int first = 0;
    int count = 0;
};

/// An operand that names something not declared before it: a label further down, or a symbol of the module.
struct OpenName {
    std::size_t instruction;
    std::size_t operand;
};

/// The declarations inside one pair of braces.
struct Scope {
    std::unordered_map<std::string, int> registers;
    std::unordered_map<std::string, RegisterFamily> families;
    std::unordered_map<std::string, int> variables;
    std::unordered_map<std::string, int> labels;
    std::vector<OpenName> open_names;
};

class BodyParser {
public:
    BodyParser(TokenReader& reader, Function& function) : reader_(reader), function_(function) {}

    void parse() {
        function_.defined = true;
        for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
            parameters_.emplace(function_.parameters[i].name, static_cast<int>(i));
        }
        reader_.expect('{');
        open_scope();
        while (!scopes_.empty()) parse_statement();
    }

private:
    void open_scope() {
        if (scopes_.size() == static_cast<std::size_t>(kDeepestNesting))
            reader_.fail(fmt::format("braces nest deeper than {}", kDeepestNesting));
        scopes_.emplace_back();
    }

    /// Labels of the scope are known now; names still open may be labels of the one around it.
    void close_scope() {
        Scope closed = std::move(scopes_.back());
        scopes_.pop_back();
        for (const OpenName& open : closed.open_names) {
            Operand& operand = function_.instructions[open.instruction].operands[open.operand];
            const auto label = closed.labels.find(operand.name);
            if (label != closed.labels.end()) {
                operand.kind = OperandKind::label;
                operand.index = label->second;
            } else if (!scopes_.empty()) {
                scopes_.back().open_names.push_back(open);
            }
        }
    }

    void parse_statement() {
        const Token& next = reader_.peek();
        if (next.kind == TokenKind::end) reader_.fail("a function without its '}'");
        if (reader_.accept('{')) return open_scope();
        if (reader_.accept('}')) return close_scope();
        if (reader_.accept(';')) return;
        if (next.kind == TokenKind::dotted) return parse_directive();
        parse_instruction_or_label();
    }

    void parse_directive() {
        if (reader_.peek().text == "reg") return parse_registers();
        if (is_variable_space(reader_.peek())) return parse_variables();
        const std::string word(reader_.take().text);
        if (word == "loc") return parse_location();
        if (word == "pragma") return reader_.skip_statement();
        reader_.fail(fmt::format(".{} is not supported in a function", word));
    }

    /// ".loc 1 23 5" and, of inlined code, ", function_name $L__info_string0+8, inlined_at 1 20 3".
    void parse_location() {
        location_.file = static_cast<int>(reader_.expect_integer());
        location_.line = static_cast<int>(reader_.expect_integer());
        static_cast<void>(reader_.expect_integer());
        while (reader_.accept(',')) {
            const bool name = reader_.expect_identifier() == "function_name";
            if (name) static_cast<void>(reader_.expect_identifier());
            if (name && (reader_.peek().is('+') || reader_.peek().is('-'))) static_cast<void>(reader_.expect_integer());
            while (!name && reader_.peek().kind == TokenKind::integer) reader_.take();
        }
    }

    void parse_variables() {
        const Variable variable = parse_variable(reader_, false);
        scopes_.back().variables[variable.name] = static_cast<int>(function_.variables.size());
        function_.variables.push_back(variable);
        reader_.expect(';');
    }

    void parse_registers() {
        reader_.take();
        const Token type = reader_.take();
        const int bits = type.kind == TokenKind::dotted ? type_bits(type.text) : 0;
        if (bits == 0) throw PtxError(type.line, fmt::format("registers of type .{} are not supported", type.text));
        do {
            declare_register(reader_.expect_identifier(), bits);
        } while (reader_.accept(','));
        reader_.expect(';');
    }

    void declare_register(const std::string& name, int bits) {
        const auto first = static_cast<int>(function_.registers.size());
        if (!reader_.accept('<')) {
            reader_.declare_registers(1);
            scopes_.back().registers[name] = first;
            function_.registers.push_back({name, bits});
            return;
        }
        const std::int64_t wanted = reader_.expect_integer();
        reader_.expect('>');
        reader_.declare_registers(wanted);
        const auto count = static_cast<int>(wanted);
        scopes_.back().families[name] = {first, count};
        for (int i = 0; i < count; ++i) function_.registers.push_back({fmt::format("{}{}", name, i), bits});
    }

    void parse_instruction_or_label() {
        const std::size_t begin = reader_.peek().begin;
        Instruction instruction;
        instruction.line = reader_.peek().line;
        instruction.location = location_;
        parse_guard(instruction);
        instruction.name = reader_.expect_identifier();
        if (instruction.guard < 0 && reader_.accept(':')) return declare_label(instruction.name);
        while (reader_.peek().kind == TokenKind::dotted) instruction.modifiers.emplace_back(reader_.take().text);
        parse_operands(instruction);
        instruction.text = reader_.text_between(begin, reader_.peek().end);
        reader_.expect(';');
        note_open_names(instruction);
        function_.instructions.push_back(std::move(instruction));
    }

    void parse_guard(Instruction& instruction) {
        if (!reader_.accept('@')) return;
        instruction.guard_negated = reader_.accept('!');
        const std::string name = reader_.expect_identifier();
        instruction.guard = require_register(name);
        if (function_.registers[static_cast<std::size_t>(instruction.guard)].bits != 1) {
            reader_.fail(fmt::format("guard {} is not a predicate", name));
        }
    }

    void declare_label(const std::string& name) {
        if (!scopes_.back().labels.emplace(name, static_cast<int>(function_.instructions.size())).second) {
            reader_.fail(fmt::format("label {} stands twice", name));
        }
    }

    void parse_operands(Instruction& instruction) {
        if (reader_.peek().is(';')) return;
        do {
            instruction.operands.push_back(parse_operand());
        } while (reader_.accept(','));
    }

    void note_open_names(const Instruction& instruction) {
        for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
            if (instruction.operands[i].kind != OperandKind::symbol) continue;
            scopes_.back().open_names.push_back({function_.instructions.size(), i});
        }
    }

    Operand parse_operand() {
        const Token& next = reader_.peek();
        if (next.is('[')) return parse_address();
        if (next.is('{')) return parse_list('{', '}');
        if (next.is('(')) return parse_list('(', ')');
        if (next.is('!')) {
            reader_.take();
            Operand operand = parse_name();
            operand.negated = true;
            return operand;
        }
        return next.kind == TokenKind::identifier ? parse_name() : parse_number();
    }

    Operand parse_number() {
        Operand operand;
        if (reader_.peek().kind == TokenKind::real32 || reader_.peek().kind == TokenKind::real64) {
            const Token token = reader_.take();
            operand.kind = token.kind == TokenKind::real32 ? OperandKind::real32 : OperandKind::real64;
            operand.value = token.value;
            return operand;
        }
        operand.kind = OperandKind::integer;
        operand.value = reader_.expect_integer();
        return operand;
    }

    /// An operand within a list or an address.
    Operand parse_inner() {
        if (++nesting_ > kDeepestNesting) reader_.fail(fmt::format("operands nest deeper than {}", kDeepestNesting));
        Operand operand = parse_operand();
        --nesting_;
        return operand;
    }

    Operand parse_list(char open, char close) {
        Operand operand;
        operand.kind = OperandKind::list;
        reader_.expect(open);
        if (reader_.accept(close)) return operand;
        do {
            operand.elements.push_back(parse_inner());
        } while (reader_.accept(','));
        reader_.expect(close);
        return operand;
    }

    /// [%rd1], [%rd1+-8], [name+4], [16]
    Operand parse_address() {
        Operand operand;
        operand.kind = OperandKind::address;
        reader_.expect('[');
        operand.elements.push_back(parse_inner());
        while (reader_.accept(',')) operand.elements.push_back(parse_inner());
        std::swap(operand.value, operand.elements.front().value);
        reader_.expect(']');
        return operand;
    }

    Operand parse_name() {
        const std::string name = reader_.expect_identifier();
        Operand operand = name == "_" ? Operand{} : resolve(name);
        if (operand.kind == OperandKind::special && reader_.peek().kind == TokenKind::dotted) {
            operand.name += "." + std::string(reader_.take().text);
        }
        if (reader_.accept('|')) {
            const std::string second = reader_.expect_identifier();
            operand.second = second == "_" ? -1 : require_register(second);
        }
        if (reader_.peek().is('+') || reader_.peek().is('-')) operand.value = reader_.expect_integer();
        return operand;
    }

    [[nodiscard]] Operand resolve(const std::string& name) const {
        Operand operand;
        operand.name = name;
        if (const std::optional<int> found = find_register(name)) {
            operand.kind = OperandKind::reg;
            operand.index = *found;
        } else if (const std::optional<int> variable = find_variable(name)) {
            operand.kind = OperandKind::variable;
            operand.index = *variable;
        } else if (const auto parameter = parameters_.find(name); parameter != parameters_.end()) {
            operand.kind = OperandKind::parameter;
            operand.index = parameter->second;
        } else {
            const bool special = name.front() == '%' || name == "WARP_SZ";
            operand.kind = special ? OperandKind::special : OperandKind::symbol;
        }
        return operand;
    }

    [[nodiscard]] int require_register(const std::string& name) const {
        const std::optional<int> found = find_register(name);
        if (!found) reader_.fail(fmt::format("register {} is not declared", name));
        return *found;
    }

    [[nodiscard]] std::optional<int> find_register(const std::string& name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            const auto found = scope->registers.find(name);
            if (found != scope->registers.end()) return found->second;
            if (const std::optional<int> member = family_member(*scope, name)) return member;
        }
        return std::nullopt;
    }

    [[nodiscard]] static std::optional<int> family_member(const Scope& scope, const std::string& name) {
        const std::size_t digits = name.find_last_not_of("0123456789") + 1;
        if (digits == name.size() || scope.families.empty()) return std::nullopt;
        const auto family = scope.families.find(name.substr(0, digits));
        if (family == scope.families.end()) return std::nullopt;
        int number = 0;
        const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
        if (error != std::errc{} || number >= family->second.count) return std::nullopt;
        return family->second.first + number;
    }

    [[nodiscard]] std::optional<int> find_variable(const std::string& name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            const auto found = scope->variables.find(name);
            if (found != scope->variables.end()) return found->second;
        }
        return std::nullopt;
    }

    TokenReader& reader_;
    Function& function_;
    std::vector<Scope> scopes_;
    std::unordered_map<std::string, int> parameters_;
    SourceLocation location_;
    int nesting_ = 0;  ///< of the operand at hand
};

}  // namespace

void parse_body(TokenReader& reader, Function& function) { BodyParser(reader, function).parse(); }

}  // namespace jitgemm::emulator::ptx
