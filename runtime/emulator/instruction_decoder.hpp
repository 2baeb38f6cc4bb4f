#pragma once

#include "runtime/emulator/program.hpp"
#include "runtime/emulator/ptx.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

/// The kind of an operand: a register of exactly this width, or a constant that fits it. Reals are converted.
enum class OperandType : std::uint8_t { predicate, bits8, bits16, bits32, bits64, real32, real64 };
[[nodiscard]] int bits_of(OperandType type);
/// 'p' predicate, 'h' 16 bits, 'w' 32, 'd' 64, 'f' f32, 'F' f64
[[nodiscard]] OperandType operand_type(char letter);
/// The operand type of a PTX type: "b8" … by width, "f32" and "f64" as reals. Throws for a name that is no type.
[[nodiscard]] std::optional<OperandType> operand_type_of(std::string_view ptx_type);

/// Constants of the program, each once.
class ConstantPool {
public:
    Value word(std::uint32_t bits);
    Value doubleword(std::uint64_t bits);
    Value address(std::size_t module_variable, std::int64_t addend);
    void move_into(DecodedProgram& program);

private:
    std::vector<std::uint32_t> words_;  ///< one each, before they become rows
    std::vector<std::uint64_t> doublewords_;
    std::vector<Relocation> relocations_;
    std::unordered_map<std::uint32_t, std::uint32_t> word_rows_;
    std::unordered_map<std::uint64_t, std::uint32_t> doubleword_rows_;
};

/// The names that operands of a function's instructions may refer to.
struct FunctionScope {
    const ptx::Module& module;
    const ptx::Function& source;
    Function& function;
    ConstantPool& constants;
    std::vector<std::int64_t> variable_offsets;       ///< of the function's variables, in their space
    const std::vector<std::int64_t>& shared_offsets;  ///< of the module's .shared variables
    const std::vector<Function>& functions;
    std::map<std::pair<Special, std::int64_t>, std::uint32_t>& special_rows;
};

/// One instruction on its way from text to Instruction. Modifiers are taken one by one. A modifier that nobody takes is
/// unsupported.
class InstructionDecoder {
public:
    InstructionDecoder(FunctionScope& scope, const ptx::Instruction& source, Instruction& result);

    [[nodiscard]] const ptx::Instruction& source() const { return source_; }
    [[nodiscard]] Instruction& result() { return result_; }
    [[nodiscard]] FunctionScope& scope() { return scope_; }

    // ---- modifiers, in any order ----
    bool take(std::string_view modifier);
    /// The first remaining modifier with one of these names, or empty.
    std::string take_any(std::initializer_list<std::string_view> modifiers);
    /// The next remaining modifier; unsupported if there is none.
    std::string take_next();
    [[nodiscard]] const std::vector<std::string>& left_over() const { return modifiers_; }
    void finish_modifiers();  ///< unsupported if any remains

    // ---- operands ----
    [[nodiscard]] std::size_t operands() const { return source_.operands.size(); }
    [[nodiscard]] const ptx::Operand& operand(std::size_t index);
    void require_operands(std::size_t least, std::size_t most);
    /// Appends operand `index` as a value of this type.
    void add(std::size_t index, OperandType type);
    /// The same, but a register may be wider than the type (loads, stores, conversions).
    void add_at_least(std::size_t index, OperandType type);
    void add_each(std::size_t index, OperandType type, std::size_t count, bool wider = false);
    void add_element(const ptx::Operand& element, OperandType type, bool wider = false);
    void add_address(std::size_t index);  ///< the base as a value, the displacement as the immediate
    /// Appends the base of an address as a value and returns its displacement. The caller handles any parts after the
    /// base.
    std::int64_t add_base(std::size_t index);
    void add_sink() { result_.values.push_back({}); }
    void add_predicate(int register_index);  ///< the second of "p|q"
    [[nodiscard]] Value value(const ptx::Operand& operand, OperandType type, bool wider = false);
    [[nodiscard]] std::int64_t constant(std::size_t index);  ///< an integer literal

    void destinations(std::size_t count) { result_.destinations = static_cast<std::uint8_t>(count); }
    void execute(InstructionKind kind, Handler handler);
    template <typename Detail>
    void detail(Detail value) {
        result_.detail_data = std::make_shared<const Detail>(std::move(value));
    }

    /// Checks the requirement of clusters: a .target of sm_90 or later.
    void require_cluster_target() const;
    [[noreturn]] void unsupported(const std::string& why = {}) const;

private:
    [[nodiscard]] Value register_value(const ptx::Operand& operand, OperandType type, bool wider);
    [[nodiscard]] Value constant_value(std::uint64_t bits, OperandType type);
    [[nodiscard]] Value real_value(const ptx::Operand& operand, OperandType type);
    [[nodiscard]] Value symbol_value(const ptx::Operand& operand, OperandType type);
    [[nodiscard]] Value variable_value(const ptx::Variable& variable, std::int64_t offset, std::int64_t addend,
                                       OperandType type);
    [[nodiscard]] Value special_value(const ptx::Operand& operand, OperandType type);

    FunctionScope& scope_;
    const ptx::Instruction& source_;
    Instruction& result_;
    std::vector<std::string> modifiers_;
};

using DecodeInstruction = void (*)(InstructionDecoder& decoder);

// Each executor_*.cpp decodes the instructions that it executes.
struct DecoderRow {
    std::string_view name;
    DecodeInstruction decode;
};
[[nodiscard]] std::vector<DecoderRow> integer_decoders();
[[nodiscard]] std::vector<DecoderRow> bit_decoders();
[[nodiscard]] std::vector<DecoderRow> compare_decoders();
[[nodiscard]] std::vector<DecoderRow> move_decoders();
[[nodiscard]] std::vector<DecoderRow> convert_decoders();
[[nodiscard]] std::vector<DecoderRow> float_decoders();
[[nodiscard]] std::vector<DecoderRow> memory_decoders();
[[nodiscard]] std::vector<DecoderRow> atomic_decoders();
[[nodiscard]] std::vector<DecoderRow> async_copy_decoders();
[[nodiscard]] std::vector<DecoderRow> matrix_decoders();
[[nodiscard]] std::vector<DecoderRow> tensor_decoders();
[[nodiscard]] std::vector<DecoderRow> wmma_decoders();
[[nodiscard]] std::vector<DecoderRow> wgmma_decoders();
[[nodiscard]] std::vector<DecoderRow> setmaxnreg_decoders();
[[nodiscard]] std::vector<DecoderRow> warp_decoders();
[[nodiscard]] std::vector<DecoderRow> barrier_decoders();
[[nodiscard]] std::vector<DecoderRow> mbarrier_decoders();
[[nodiscard]] std::vector<DecoderRow> cluster_decoders();
[[nodiscard]] std::vector<DecoderRow> control_decoders();

}  // namespace jitgemm::emulator
