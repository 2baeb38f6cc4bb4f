#include "runtime/emulator/program.hpp"

#include "jitgemm/error.hpp"
#include "runtime/emulator/decoder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

namespace jitgemm::emulator {
namespace {

std::uint64_t next_identity() {
    static std::atomic<std::uint64_t> last{0};  // a counter, not a setting: nothing depends on its value
    return ++last;
}

}  // namespace

Program::Program(std::unique_ptr<const ptx::Module> module, DecodedProgram decoded)
    : module_(std::move(module)), decoded_(std::move(decoded)), identity_(next_identity()) {}

int Program::compute_capability() const { return ptx::compute_capability(*module_); }

const Function& Program::entry(std::string_view name) const {
    std::vector<std::string> names;
    for (const Function& function : decoded_.functions) {
        if (function.entry && function.name == name) return function;
        if (function.entry) names.push_back(function.name);
    }
    throw Error(fmt::format("the PTX has no entry {}; it has {}", name,
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

std::string Program::place(const Instruction& instruction) const {
    const ptx::Instruction& source = *instruction.source;
    std::string text = fmt::format("PTX line {}: {}", source.line, source.text);
    if (source.location.line == 0) return text;
    const auto file = std::find_if(module_->files.begin(), module_->files.end(),
                                   [&](const ptx::SourceFile& f) { return f.number == source.location.file; });
    return fmt::format("{} ({}:{})", text, file == module_->files.end() ? "source" : file->path, source.location.line);
}

std::string Program::register_name(const Instruction& instruction, const Value& value) const {
    for (std::size_t i = 0; i < decoded_.functions.size(); ++i) {
        const Function& function = decoded_.functions[i];
        if (instruction.index < function.first || instruction.index >= function.end) continue;
        for (std::size_t r = 0; r < function.registers.size(); ++r) {
            const Value& own = function.registers[r];
            if (own.bank == value.bank && own.row == value.row) return module_->functions[i].registers[r].name;
        }
    }
    return "(special)";
}

std::shared_ptr<const Program> load_program(std::string_view ptx) {
    auto module = std::make_unique<const ptx::Module>(ptx::parse(ptx));
    DecodedProgram decoded = decode(*module);
    return std::make_shared<const Program>(std::move(module), std::move(decoded));
}

}  // namespace jitgemm::emulator
