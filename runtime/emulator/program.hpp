#pragma once

#include "runtime/emulator/counters.hpp"
#include "runtime/emulator/mask.hpp"
#include "runtime/emulator/ptx.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// \file A module ready to run: one flat array of instructions, each with the function that executes it and its
/// operands as rows of registers. Immutable; any number of launches share it.

namespace jitgemm::emulator {

class Warp;
struct Instruction;

/// Executes an instruction for the lanes of `mask`, which is never empty.
using Handler = void (*)(Warp& warp, const Instruction& instruction, Mask mask);

/// Registers lie in rows of one value per lane: words for all of up to 32 bits (narrower ones zero-extended),
/// doublewords for 64 bits; a row of predicates is a mask. Constants have the same form.
enum class Bank : std::uint8_t { none, words, doublewords, predicates, constant_words, constant_doublewords };

struct Value {
    Bank bank = Bank::none;  ///< none: "_"
    bool negated = false;    ///< of a predicate
    std::uint32_t row = 0;
    [[nodiscard]] bool is_register() const {
        return bank == Bank::words || bank == Bank::doublewords || bank == Bank::predicates;
    }
};

/// What comes of sources that their thread has never written. The last operand must be written, unless it is the only
/// one.
enum class UnwrittenSource : std::uint8_t {
    fault,
    copied,    ///< mov: the result is as unwritten
    selected,  ///< selp: as the source that is selected
    mixed,     ///< prmt: where all are; bytes of the others may be all that is read of the result
    added_to,  ///< wgmma: the destinations are sources, too, where the last operand, a predicate, is true
};

/// What a register holds that nobody has written: a NaN of f64, f32 and f16. Narrower registers hold its low part.
inline constexpr std::uint64_t kUnwrittenRegister = 0x7fff7fff7fff7fff;

inline constexpr std::uint32_t kNoReconvergence = ~std::uint32_t{0};

struct Instruction {
    Handler execute = nullptr;
    InstructionKind kind = InstructionKind::move;
    bool guarded = false;
    bool guard_negated = false;
    bool tracked = false;  ///< it reads or writes registers that may be read unwritten
    UnwrittenSource unwritten = UnwrittenSource::fault;
    bool keeps_registers = false;                    ///< wgmma: it uses registers until a wait, and says so itself
    std::uint8_t destinations = 0;                   ///< the first so many values are written, the others read
    std::uint32_t guard = 0;                         ///< row of predicates
    std::uint32_t index = 0;                         ///< in Program::code
    std::uint32_t target = 0;                        ///< of a branch
    std::uint32_t reconvergence = kNoReconvergence;  ///< where lanes that part here meet again
    std::int64_t immediate = 0;                      ///< displacement of an address, or what the handler takes it for
    std::vector<Value> values;
    std::shared_ptr<const void> detail_data;  ///< what only this handler knows
    const ptx::Instruction* source = nullptr;

    template <typename Detail>
    [[nodiscard]] const Detail& detail() const {
        return *static_cast<const Detail*>(detail_data.get());
    }
};

/// Special registers live in ordinary rows that are filled when a frame begins.
enum class Special : std::uint8_t {
    tid_x,  // triples first: kSpecialAxes each
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    laneid,
    warpid,
    nwarpid,
    warp_size,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    dynamic_shared_bytes,
    total_shared_bytes,
    cluster_ctarank,
    cluster_nctarank,
    is_explicit_cluster,
    local_address,  ///< of the frame's local memory
};

inline constexpr std::size_t kSpecialAxes = 3;
inline constexpr Special kFirstScalarSpecial = Special::laneid;  ///< those before it are x, y, z of something

/// Where its row lies.
[[nodiscard]] constexpr Bank bank_of(Special special) {
    if (special == Special::is_explicit_cluster) return Bank::predicates;
    return special == Special::local_address ? Bank::doublewords : Bank::words;
}

struct SpecialRow {
    Special special;
    std::uint32_t row;
    std::int64_t addend = 0;
};

/// A range of a function's parameter space, bytes.
struct ParameterRange {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

/// A function as the code array knows it.
struct Function {
    std::string name;
    bool entry = false;
    std::uint32_t first = 0;  ///< its first instruction
    std::uint32_t end = 0;
    std::uint32_t words = 0;  ///< rows a frame has of each bank
    std::uint32_t doublewords = 0;
    std::uint32_t predicates = 0;
    std::vector<std::uint32_t> unwritten_words;  ///< what registers hold before they are written, by row
    std::vector<SpecialRow> specials;
    std::vector<Value> registers;            ///< where each register of the PTX lies
    std::vector<ParameterRange> parameters;  ///< and results behind them; they come first in the parameter space
    std::int64_t formal_bytes = 0;           ///< of parameters and results
    std::int64_t parameter_bytes = 0;        ///< with the .param variables of calls it makes
    std::int64_t local_bytes = 0;
    std::int64_t max_threads = 0;
    std::int64_t required_threads = 0;
    std::optional<std::array<std::int64_t, 3>> required_cluster;  ///< blocks
    std::int64_t max_cluster = 0;                                 ///< blocks; 0: not said
    bool explicit_cluster = false;                                ///< a launch has to name one
    std::vector<Value> tracked;                                   ///< registers that may be read unwritten
};

/// Bytes that a call moves from one parameter space to another.
struct ParameterMove {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t bytes = 0;
};

/// Detail of a call.
struct CallSite {
    std::size_t function = 0;
    std::vector<ParameterMove> arguments;  ///< from the caller's space to the function's
    std::vector<ParameterMove> results;    ///< from the function's to the caller's
};

/// A doubleword constant that is an address of a module variable.
struct Relocation {
    std::uint32_t row;
    std::size_t variable;  ///< of the module
    std::int64_t addend;
};

struct SharedLayout {
    std::int64_t static_bytes = 0;
    int dynamic_alignment = 16;
    /// Where the launch's dynamic shared memory begins.
    [[nodiscard]] std::int64_t dynamic_offset() const {
        return (static_bytes + dynamic_alignment - 1) / dynamic_alignment * dynamic_alignment;
    }
};

/// What the decoder makes of a module.
struct DecodedProgram {
    std::vector<Instruction> code;
    std::vector<Function> functions;                  ///< as in the module
    std::vector<std::uint32_t> constant_words;        ///< a row of kLanes copies each
    std::vector<std::uint64_t> constant_doublewords;  ///< addresses of variables are filled in by the launch
    std::vector<Relocation> relocations;
    SharedLayout shared;
    std::vector<std::unique_ptr<const ptx::Instruction>> closing;  ///< the ret at the end of each body
};

class Program {
public:
    Program(std::unique_ptr<const ptx::Module> module, DecodedProgram decoded);

    [[nodiscard]] const ptx::Module& module() const { return *module_; }
    [[nodiscard]] const std::vector<Instruction>& code() const { return decoded_.code; }
    [[nodiscard]] const DecodedProgram& decoded() const { return decoded_; }
    [[nodiscard]] int compute_capability() const;  ///< of .target: 80, 90
    /// Throws Error naming the entries there are.
    [[nodiscard]] const Function& entry(std::string_view name) const;
    [[nodiscard]] std::uint64_t identity() const { return identity_; }  ///< no other program of the process has it
    /// "PTX line 123: add.s32 …; kernel.cu:45"
    [[nodiscard]] std::string place(const Instruction& instruction) const;
    /// The register a value of that instruction is, as the PTX names it.
    [[nodiscard]] std::string register_name(const Instruction& instruction, const Value& value) const;

private:
    std::unique_ptr<const ptx::Module> module_;
    DecodedProgram decoded_;
    std::uint64_t identity_;
};

/// Reads and decodes a module. Throws PtxError with the line of what it does not know; never runs what it would have to
/// guess at.
[[nodiscard]] std::shared_ptr<const Program> load_program(std::string_view ptx);

}  // namespace jitgemm::emulator
