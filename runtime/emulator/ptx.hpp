#pragma once

#include "jitgemm/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// \file A PTX module as text defines it: declarations and instructions with names resolved and nothing interpreted
/// yet. The grammar is the PTX ISA's (9.0, chapters 4, 5, 8 and 11).

namespace jitgemm::emulator {

/// PTX that cannot be read or run; what() starts with "PTX line N".
class PtxError : public Error {
public:
    PtxError(int line, const std::string& message);
    [[nodiscard]] int line() const noexcept { return line_; }

private:
    int line_;
};

}  // namespace jitgemm::emulator

namespace jitgemm::emulator::ptx {

/// `cluster` is the window .shared::cluster, the shared memory of all blocks of the cluster. `shared` is .shared::cta,
/// the block's own.
enum class StateSpace : std::uint8_t { generic, param, global, shared, local, constant, cluster };
[[nodiscard]] std::string_view to_string(StateSpace space);

/// A place in the source of the PTX, from .loc; line 0 if there is none.
struct SourceLocation {
    int file = 0;  ///< number of a .file directive
    int line = 0;
};

enum class OperandKind : std::uint8_t {
    reg,        ///< reg, and second for "d|p"
    sink,       ///< "_", and second for "_|p"
    special,    ///< %tid.x and similar: name
    integer,    ///< value
    real32,     ///< value: the bits of "0f3F800000"
    real64,     ///< value: the bits of "0d…", or of a decimal number, which a 32-bit operand rounds
    symbol,     ///< name of a module-level variable or function, plus value
    variable,   ///< of the function: index, plus value
    parameter,  ///< of the function: index (results follow the parameters), plus value
    label,      ///< index of the instruction
    address,    ///< [base + value]: elements[0] is the base (register, variable, symbol, integer)
    list,       ///< {…} or (…): elements
};

struct Operand {
    OperandKind kind = OperandKind::sink;
    bool negated = false;  ///< "!p"
    int index = -1;        ///< register, variable, parameter or instruction
    int second = -1;       ///< the predicate behind "|"
    std::int64_t value = 0;
    std::string name;
    std::vector<Operand> elements;
};

struct Instruction {
    std::string name;                    ///< "ld"
    std::vector<std::string> modifiers;  ///< "param", "v2", "u32"
    int guard = -1;                      ///< predicate register; -1: none
    bool guard_negated = false;
    std::vector<Operand> operands;
    int line = 0;
    SourceLocation location;
    std::string text;  ///< the statement as written

    [[nodiscard]] std::string opcode() const;  ///< "ld.param.v2.u32"
    [[nodiscard]] bool has(std::string_view modifier) const;
};

/// Bits of a register whose type has this name ("b32", "pred", "f16x2"); 1 for predicates; 0 for any other name.
[[nodiscard]] int type_bits(std::string_view type);

struct Register {
    std::string name;
    int bits = 32;
};

struct Variable {
    std::string name;
    StateSpace space = StateSpace::global;
    std::int64_t bytes = 0;  ///< 0 with `external`: the launch gives the size
    int alignment = 1;
    bool external = false;
    std::vector<std::byte> initial;  ///< empty: zeros
    int line = 0;
};

struct Function {
    std::string name;
    bool entry = false;
    bool defined = false;              ///< has a body
    std::vector<Variable> parameters;  ///< a function's results follow its parameters
    std::size_t result_count = 0;
    std::vector<Variable> variables;
    std::vector<Register> registers;
    std::vector<Instruction> instructions;
    std::int64_t max_threads = 0;       ///< .maxntid or .reqntid, product; 0: no limit is given
    std::int64_t required_threads = 0;  ///< .reqntid
    std::optional<std::array<std::int64_t, 3>> required_cluster;  ///< .reqnctapercluster, blocks
    std::int64_t max_cluster = 0;                                 ///< .maxclusterrank, blocks; 0: no limit is given
    bool explicit_cluster = false;                                ///< .explicitcluster
    int line = 0;
};

struct SourceFile {
    int number = 0;
    std::string path;
};

struct Module {
    int version = 0;     ///< 10 · major + minor
    std::string target;  ///< "sm_80"
    std::vector<Variable> variables;
    std::vector<Function> functions;
    std::vector<SourceFile> files;
};

/// Of .target: 80, 90.
[[nodiscard]] int compute_capability(const Module& module);

/// Throws PtxError.
[[nodiscard]] Module parse(std::string_view text);

}  // namespace jitgemm::emulator::ptx
