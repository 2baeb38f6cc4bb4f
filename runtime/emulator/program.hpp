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

/// \file A module ready to run: one flat array of instructions. Each has the function that executes it, and its
/// operands as rows of registers. It is immutable, and any number of launches share it.

namespace jitgemm::emulator {

class Warp;
struct Instruction;

/// Executes an instruction for the lanes of `mask`, which is never empty.
using Handler = void (*)(Warp& warp, const Instruction& instruction, Mask mask);

/// Registers lie in rows of one value per lane: words for up to 32 bits (narrower ones zero-extended), and doublewords
/// for 64 bits. A row of predicates is a mask. Constants have the same form.
enum class Bank : std::uint8_t { none, words, doublewords, predicates, constant_words, constant_doublewords };

struct Value {
    Bank bank = Bank::none;  ///< none: "_"
    bool negated = false;    ///< of a predicate
    std::uint32_t row = 0;
    [[nodiscard]] bool is_register() const {
        return bank == Bank::words || bank == Bank::doublewords || bank == Bank::predicates;
    }
};

/// The effect of sources that their thread has never written. The last operand must be written, unless it is the only
/// one.
enum class UnwrittenSource : std::uint8_t {
    fault,
    copied,    ///< mov: the result is unwritten if the source is
    selected,  ///< selp: as the selected source
    mixed,     ///< prmt: the result is unwritten if all sources are; later reads may only use bytes of the others
    added_to,  ///< wgmma: the destinations are also sources if the last operand, a predicate, is true
};

/// The contents of a register that was never written: a NaN of f64, f32 and f16. Narrower registers hold its low part.
inline constexpr std::uint64_t kUnwrittenRegister = 0x7fff7fff7fff7fff;

inline constexpr std::uint32_t kNoReconvergence = ~std::uint32_t{0};

struct Instruction {
    Handler execute = nullptr;
    InstructionKind kind = InstructionKind::move;
    bool guarded = false;
    bool guard_negated = false;
    bool tracked = false;  ///< it reads or writes registers that may be read before they are written
    UnwrittenSource unwritten = UnwrittenSource::fault;
    bool keeps_registers = false;   ///< wgmma: it uses registers until a wait, and reports its own uses
    std::uint8_t destinations = 0;  ///< the first values, this many, are written, and the others are read
    std::uint32_t guard = 0;        ///< row of predicates
    std::uint32_t index = 0;        ///< in Program::code
    std::uint32_t target = 0;       ///< of a branch
    std::uint32_t reconvergence = kNoReconvergence;  ///< where lanes that part here meet again
    std::int64_t immediate = 0;                      ///< displacement of an address, or the handler's own number
    std::vector<Value> values;
    std::shared_ptr<const void> detail_data;  ///< data of this handler only
    const ptx::Instruction* source = nullptr;

    template <typename Detail>
    [[nodiscard]] const Detail& detail() const {
        return *static_cast<const Detail*>(detail_data.get());
    }
};

/// Special registers are ordinary rows that are filled when a frame begins.
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
inline constexpr Special kFirstScalarSpecial = Special::laneid;  ///< the ones before it are x, y, z of something

/// The bank of its row.
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

/// A function in the code array.
struct Function {
    std::string name;
    bool entry = false;
    std::uint32_t first = 0;  ///< its first instruction
    std::uint32_t end = 0;
    std::uint32_t words = 0;  ///< rows of each bank in a frame
    std::uint32_t doublewords = 0;
    std::uint32_t predicates = 0;
    std::vector<std::uint32_t> unwritten_words;  ///< contents of registers before they are written, by row
    std::vector<SpecialRow> specials;
    std::vector<Value> registers;            ///< the place of each register of the PTX
    std::vector<ParameterRange> parameters;  ///< and the results after them; they come first in the parameter space
    std::int64_t formal_bytes = 0;           ///< of parameters and results
    std::int64_t parameter_bytes = 0;        ///< including the .param variables of its calls
    std::int64_t local_bytes = 0;
    std::int64_t max_threads = 0;
    std::int64_t required_threads = 0;
    std::optional<std::array<std::int64_t, 3>> required_cluster;  ///< blocks
    std::int64_t max_cluster = 0;                                 ///< blocks; 0: no limit is given
    bool explicit_cluster = false;                                ///< a launch must name a cluster
    std::vector<Value> tracked;  ///< registers that may be read before they are written
};

/// Bytes that a call moves from one parameter space to another.
struct ParameterMove {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t bytes = 0;
};

/// The details of a call.
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
    /// The offset at which the launch's dynamic shared memory begins.
    [[nodiscard]] std::int64_t dynamic_offset() const {
        return (static_bytes + dynamic_alignment - 1) / dynamic_alignment * dynamic_alignment;
    }
};

/// The decoder's output for a module.
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
    /// Throws Error with the known entries.
    [[nodiscard]] const Function& entry(std::string_view name) const;
    [[nodiscard]] std::uint64_t identity() const { return identity_; }  ///< unique in the process
    /// "PTX line 123: add.s32 …; kernel.cu:45"
    [[nodiscard]] std::string place(const Instruction& instruction) const;
    /// The PTX name of the register that is a value of this instruction.
    [[nodiscard]] std::string register_name(const Instruction& instruction, const Value& value) const;

private:
    std::unique_ptr<const ptx::Module> module_;
    DecodedProgram decoded_;
    std::uint64_t identity_;
};

/// Reads and decodes a module. Throws PtxError with the line of an unknown construct; it never guesses.
[[nodiscard]] std::shared_ptr<const Program> load_program(std::string_view ptx);

}  // namespace jitgemm::emulator
