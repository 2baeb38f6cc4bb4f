#include "runtime/emulator/decoder.hpp"

#include "generator/base/round_up.hpp"
#include "runtime/emulator/control_flow.hpp"
#include "runtime/emulator/instruction_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::emulator {
namespace {

using Decoders = std::unordered_map<std::string_view, DecodeInstruction>;

const Decoders& decoders() {
    static const Decoders kAll = [] {
        Decoders all;
        for (const auto& rows :
             {integer_decoders(), bit_decoders(), compare_decoders(), move_decoders(), convert_decoders(),
              float_decoders(), memory_decoders(), atomic_decoders(), async_copy_decoders(), matrix_decoders(),
              tensor_decoders(), wmma_decoders(), wgmma_decoders(), setmaxnreg_decoders(), warp_decoders(),
              barrier_decoders(), mbarrier_decoders(), cluster_decoders(), control_decoders()}) {
            for (const DecoderRow& row : rows) all.emplace(row.name, row.decode);
        }
        return all;
    }();
    return kAll;
}

// The emulator allocates these for every warp of a block. So a module may not ask for more than a GPU would give it.
constexpr std::int64_t kMostSharedBytes = 1 << 18;     // the most any GPU has is 228 KiB
constexpr std::int64_t kMostLocalBytes = 1 << 19;      // of a thread, as CUDA has it
constexpr std::int64_t kMostParameterBytes = 1 << 16;  // a kernel's are 32764 bytes, and calls have theirs beside

/// Lays one thing after another, each at its alignment.
class Layout {
public:
    std::int64_t place(std::int64_t bytes, int alignment) {
        const std::int64_t offset = round_up<std::int64_t>(end_, std::max(alignment, 1));
        end_ = offset + bytes;
        return offset;
    }
    [[nodiscard]] std::int64_t end() const { return end_; }

private:
    std::int64_t end_ = 0;
};

class ModuleDecoder {
public:
    explicit ModuleDecoder(const ptx::Module& module) : module_(module) {}

    DecodedProgram decode() {
        lay_out_shared();
        for (const ptx::Function& function : module_.functions) declare(function);
        for (std::size_t i = 0; i < module_.functions.size(); ++i) define(i);
        constants_.move_into(program_);
        return std::move(program_);
    }

private:
    /// Static variables of the module and of every function, then what the launch gives.
    void lay_out_shared() {
        Layout layout;
        const auto place = [&](const ptx::Variable& variable) {
            return variable.space == ptx::StateSpace::shared && !is_dynamic(variable)
                       ? layout.place(variable.bytes, variable.alignment)
                       : 0;
        };
        for (const ptx::Variable& variable : module_.variables) shared_offsets_.push_back(place(variable));
        for (const ptx::Function& function : module_.functions) {
            function_shared_.emplace_back();
            for (const ptx::Variable& variable : function.variables) function_shared_.back().push_back(place(variable));
        }
        program_.shared.static_bytes = layout.end();
        if (layout.end() > kMostSharedBytes)
            throw PtxError(1, fmt::format("{} bytes of static shared memory: no GPU has more than {}", layout.end(),
                                          kMostSharedBytes));
        for (const ptx::Variable& variable : module_.variables) {
            if (is_dynamic(variable)) {
                program_.shared.dynamic_alignment = std::max(program_.shared.dynamic_alignment, variable.alignment);
            }
        }
        for (std::size_t i = 0; i < module_.variables.size(); ++i) {
            if (is_dynamic(module_.variables[i])) shared_offsets_[i] = program_.shared.dynamic_offset();
        }
    }

    static bool is_dynamic(const ptx::Variable& variable) {
        return variable.space == ptx::StateSpace::shared && variable.external && variable.bytes == 0;
    }

    void declare(const ptx::Function& source) {
        Function function;
        function.name = source.name;
        function.entry = source.entry;
        function.max_threads = source.max_threads;
        function.required_threads = source.required_threads;
        function.required_cluster = source.required_cluster;
        function.max_cluster = source.max_cluster;
        function.explicit_cluster = source.explicit_cluster;
        Layout parameters;
        for (const ptx::Variable& parameter : source.parameters) {
            function.parameters.push_back({parameters.place(parameter.bytes, parameter.alignment), parameter.bytes});
        }
        function.formal_bytes = parameters.end();
        for (const ptx::Register& own : source.registers)
            function.registers.push_back(place_register(function, own.bits));
        program_.functions.push_back(std::move(function));
    }

    static Value place_register(Function& function, int bits) {
        if (bits == 1) return {.bank = Bank::predicates, .row = function.predicates++};
        if (bits == 64) return {.bank = Bank::doublewords, .row = function.doublewords++};
        function.unwritten_words.push_back(static_cast<std::uint32_t>(kUnwrittenRegister) >> (32 - bits));
        return {.bank = Bank::words, .row = function.words++};
    }

    /// Offsets of the function's own variables in their spaces: local memory, its parameter space, shared memory.
    std::vector<std::int64_t> lay_out_variables(std::size_t index) {
        const ptx::Function& source = module_.functions[index];
        Function& function = program_.functions[index];
        Layout local;
        Layout parameters;
        parameters.place(function.formal_bytes, 1);
        std::vector<std::int64_t> offsets;
        for (std::size_t i = 0; i < source.variables.size(); ++i) {
            const ptx::Variable& variable = source.variables[i];
            if (variable.space == ptx::StateSpace::local) {
                offsets.push_back(local.place(variable.bytes, variable.alignment));
            } else if (variable.space == ptx::StateSpace::param) {
                offsets.push_back(parameters.place(variable.bytes, variable.alignment));
            } else if (variable.space == ptx::StateSpace::shared) {
                offsets.push_back(function_shared_[index][i]);
            } else {
                throw PtxError(variable.line, fmt::format("a .{} variable in a function is not supported",
                                                          ptx::to_string(variable.space)));
            }
        }
        constexpr std::int64_t kWidest = 16;
        function.local_bytes = round_up(local.end(), kWidest);
        function.parameter_bytes = round_up(parameters.end(), kWidest);
        require_room(source, "local memory", function.local_bytes, kMostLocalBytes);
        require_room(source, "parameters", function.parameter_bytes, kMostParameterBytes);
        return offsets;
    }

    static void require_room(const ptx::Function& source, std::string_view what, std::int64_t bytes,
                             std::int64_t most) {
        if (bytes > most)
            throw PtxError(source.line, fmt::format("{} has {} bytes of {}: more than {} are not supported",
                                                    source.name, bytes, what, most));
    }

    void define(std::size_t index) {
        const ptx::Function& source = module_.functions[index];
        Function& function = program_.functions[index];
        function.first = static_cast<std::uint32_t>(program_.code.size());
        function.end = function.first;
        if (!source.defined || source.instructions.empty()) return require_no_body(source);
        std::map<std::pair<Special, std::int64_t>, std::uint32_t> special_rows;
        FunctionScope scope{
            module_,     source, function, constants_, lay_out_variables(index), shared_offsets_, program_.functions,
            special_rows};
        for (const ptx::Instruction& instruction : source.instructions) append(scope, instruction);
        close(scope);
        function.end = static_cast<std::uint32_t>(program_.code.size());
        const std::span<Instruction> code = std::span(program_.code).subspan(function.first);
        set_reconvergence(code, function.first);
        function.tracked = mark_tracked(code, function.first, function);
    }

    static void require_no_body(const ptx::Function& source) {
        if (source.entry && source.defined) throw PtxError(source.line, "entry " + source.name + " has no instruction");
    }

    void append(FunctionScope& scope, const ptx::Instruction& source) {
        Instruction instruction;
        instruction.source = &source;
        instruction.index = static_cast<std::uint32_t>(program_.code.size());
        if (source.guard >= 0) {
            instruction.guarded = true;
            instruction.guard_negated = source.guard_negated;
            instruction.guard = scope.function.registers[static_cast<std::size_t>(source.guard)].row;
        }
        InstructionDecoder decoder(scope, source, instruction);
        const auto found = decoders().find(source.name);
        if (found == decoders().end()) decoder.unsupported();
        found->second(decoder);
        program_.code.push_back(std::move(instruction));
    }

    /// A body may end without ret, or with a label: what runs off its end returns.
    void close(FunctionScope& scope) {
        const ptx::Instruction& last = scope.source.instructions.back();
        auto ret = std::make_unique<ptx::Instruction>();
        ret->name = "ret";
        ret->line = last.line;
        ret->location = last.location;
        ret->text = "}";
        append(scope, *ret);
        program_.closing.push_back(std::move(ret));
    }

    const ptx::Module& module_;
    DecodedProgram program_;
    ConstantPool constants_;
    std::vector<std::int64_t> shared_offsets_;  ///< of the module's .shared variables
    std::vector<std::vector<std::int64_t>> function_shared_;
};

}  // namespace

DecodedProgram decode(const ptx::Module& module) { return ModuleDecoder(module).decode(); }

}  // namespace jitgemm::emulator
