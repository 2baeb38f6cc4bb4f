#include "runtime/export/export_kernel_set.hpp"

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "generator/kernel_set_rows.hpp"
#include "jitgemm/version.hpp"
#include "runtime/export/export_dispatcher.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace jitgemm {
namespace {

/// The smallest and the largest m that a kernel of the set serves.
struct ServedRows {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = 0;
};

ServedRows rows_of(const KernelSet& set, std::size_t kernel) {
    ServedRows rows;
    for (const KernelRange& range : set.ranges) {
        if (range.kernel != kernel) continue;
        rows.first = std::min(rows.first, range.first_m);
        rows.last = std::max(rows.last, range.last_m);
    }
    return rows;
}

Problem lines_at(const SetKernel& kernel, std::int64_t m) {
    return problem_of(as_lines(problem_at(kernel.spec, m).asked));
}

/// Room for every m that the kernel serves. A workspace grows with m.
WorkspaceLayout workspace_of(const SetKernel& kernel, const ServedRows& rows) {
    const WorkspaceLayout first = workspace_layout(lines_at(kernel, rows.first), kernel.id.config);
    const WorkspaceLayout last = workspace_layout(lines_at(kernel, rows.last), kernel.id.config);
    const std::size_t counters = std::max(first.counters, last.counters);
    return {std::max(first.bytes - first.counters, last.bytes - last.counters) + counters, counters, 0};
}

/// A matrix of a text whose lines are as long as m: the kernel asks for the alignment of as many elements as of D.
OperandList operands_for_any_m(const LauncherInput& input) {
    const GemmSignature& signature = input.source.id.signature;
    const int elements = signature.align_d / bytes(signature.d);
    OperandList operands;
    for (GemmOperand operand : input.operands) {
        if (operand.pointer == nullptr && is_pitched_by_m(operand, input.problem.asked))
            operand.alignment = std::min(operand.alignment, elements * bytes(operand.type));
        operands.add(operand);
    }
    return operands;
}

/// Sources and launchers of all kernels. The launchers refer to the sources.
class SetLaunchers {
public:
    SetLaunchers(const KernelSet& set, const Arch& arch, const TemplateSet& templates, const std::string& name) {
        sources_.reserve(set.kernels.size());
        for (std::size_t i = 0; i < set.kernels.size(); ++i) {
            const SetKernel& kernel = set.kernels[i];
            const ServedRows rows = rows_of(set, i);
            const Problem problem = lines_at(kernel, rows.first);
            const KernelSource& source = sources_.emplace_back(generate(problem, kernel.id.config, arch, templates));
            LauncherInput input{fmt::format("{}_{}", name, i), source, problem, workspace_of(kernel, rows)};
            input.cubin = cubins_.emplace(source.body, input.name).first->second;
            input.first_m = rows.first;
            input.last_m = rows.last;
            if (rows.first != rows.last) input.operands = operands_for_any_m(input);
            launchers_.push_back(input);
        }
    }
    [[nodiscard]] const std::vector<LauncherInput>& list() const { return launchers_; }

private:
    std::vector<KernelSource> sources_;
    std::map<std::string, std::string> cubins_;  // names by text
    std::vector<LauncherInput> launchers_;
};

nlohmann::ordered_json facts_of(const CompiledKernel& compiled, const LauncherInput& launcher) {
    return {{"cubin", launcher.cubin + ".cubin"},
            {"kernel", launcher.source.name},
            {"arch", compiled.arch},
            {"nvrtc_version", compiled.nvrtc_version},
            {"registers", compiled.report.registers},
            {"spill_bytes", compiled.report.spill_bytes()}};
}

/// The files of the kernels, and what meta.json says of each cubin.
nlohmann::ordered_json add_kernels(ExportFiles& files, const std::vector<LauncherInput>& launchers,
                                   const CompileForExport& compile) {
    nlohmann::ordered_json facts = nlohmann::ordered_json::array();
    for (const LauncherInput& launcher : launchers) {
        files.emplace_back(launcher.name + ".h", launcher_header(launcher));
        files.emplace_back(launcher.name + ".c", launcher_source(launcher));
        if (launcher.cubin != launcher.name) continue;
        const CompiledKernel compiled = compile(launcher.source, launcher.problem);
        files.emplace_back(launcher.cubin + ".cubin", compiled.binary);
        files.emplace_back(launcher.cubin + ".cu", dump(launcher.source, launcher.problem));
        facts.push_back(facts_of(compiled, launcher));
    }
    return facts;
}

}  // namespace

void export_kernel_set(const KernelSet& set, const Arch& arch, const TemplateSet& templates,
                       const CompileForExport& compile, const std::string& directory, const ExportOptions& options) {
    const std::string name = checked_export_name(options, set.spec);
    const KernelSet split = with_own_single_row(set);
    const SetLaunchers launchers(split, arch, templates, name);
    const DispatcherInput dispatcher{name, split, launchers.list()};
    ExportFiles files;
    const nlohmann::ordered_json cubins = add_kernels(files, launchers.list(), compile);
    files.emplace_back(name + ".h", dispatcher_header(dispatcher));
    files.emplace_back(name + ".c", dispatcher_source(dispatcher));
    const nlohmann::ordered_json meta = {{"format", "jitgemm-kernel-set-export-v1"},
                                         {"jitgemm", kVersion},
                                         {"name", name},
                                         {"cubins", cubins},
                                         {"set", nlohmann::ordered_json::parse(to_json(split))}};
    files.emplace_back("meta.json", meta.dump(2) + "\n");
    write_export_folder(files, directory, options.force);
}

}  // namespace jitgemm
