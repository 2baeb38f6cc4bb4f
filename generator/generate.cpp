#include "generator/generate.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/spread_blocks.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr std::string_view kEndOfBanner =
    "// ---- end of banner: what follows depends on the kernel's name alone, and is what gets compiled and hashed "
    "----\n";
constexpr std::string_view kSpecLabel = "//   spec     ";
constexpr std::string_view kKernelLabel = "//   kernel   ";
constexpr std::string_view kArchLabel = "//   arch     ";

/// Every parameter, those too that the kernel's name leaves out.
std::string config_line(const KernelConfig& config) {
    return fmt::format("//   config   {}\n", parameters_text(config));
}

std::string launch_line(const KernelEntry& entry, const GemmSpec& row_major) {
    const auto* const persistent = std::get_if<PersistentBlocks>(&entry.grid.blocks);
    const std::string at_most = persistent == nullptr ? "" : fmt::format("{} per SM, at most ", persistent->per_sm);
    const int cluster = cluster_blocks(entry.cluster);
    return fmt::format("{}: {}{} blocks of {} threads along x{}, {} bytes of dynamic shared memory", entry.function,
                       at_most, block_count(entry.grid, row_major), entry.threads,
                       cluster > 1 ? fmt::format(", in clusters of {}", cluster) : "", entry.shared_bytes);
}

/// A launch of few blocks requests more shared memory than the kernel uses.
std::string pad_line(const std::vector<KernelEntry>& entries) {
    if (std::ranges::none_of(entries, is_spread)) return {};
    return "//   pad      a launch of few blocks requests more shared memory, so that no SM takes more than its "
           "share\n";
}

std::string operands_line(const Problem& problem) {
    const GemmSpec& spec = problem.row_major();
    const std::string_view b = spec.symmetric ? "A^T" : "B";
    if (!spec.epilogue.empty())
        return fmt::format("acc = A {}, D {}-major, and {}", b, problem.transposed ? "column" : "row",
                           problem.asked.epilogue.text());
    const std::string_view plus_c = !spec.c ? "" : spec.broadcast_c ? " + beta C, one row" : " + beta C";
    return fmt::format("D = alpha A {}{}, D {}-major", b, plus_c, problem.transposed ? "column" : "row");
}

std::string turned_line(const KernelSource& source, const Problem& problem) {
    if (problem.transposed == computes_transpose(source.entries.front().arguments)) return {};
    return "//   computed as D^T = B^T A^T: the kernel's m is your n, its a is your B\n";
}

/// A matrix of one row or column may be asked for in the other order. This line says which order the kernel gets.
std::string lines_line(const GemmSpec& asked) {
    const GemmSpec lines = as_lines(asked);
    if (lines == asked) return {};
    return fmt::format(
        "//   lines    one row or column, side by side, lies as layout={} d-layout={} lda={} ldb={} ldd={}\n",
        to_string(lines.layout), to_string(lines.d_order), lines.lda, lines.ldb, lines.ldd);
}

/// The rest of the line behind a label of the banner.
std::string_view labelled_line(std::string_view text, std::string_view label) {
    const std::size_t begin = text.find(label);
    const std::size_t banner_end = text.find(kEndOfBanner);
    if (begin == std::string_view::npos || begin > banner_end)
        throw ConfigError("dump", {fmt::format("the banner has no line '{}...'", label)});
    const std::string_view rest = text.substr(begin + label.size());
    return rest.substr(0, rest.find('\n'));
}

/// The body computes the epilogue that the kernel's name has: another text in the spec would not change it.
void require_epilogue_of_kernel(const Problem& problem, std::string_view kernel) {
    const std::optional<Epilogue>& epilogue = problem.signature.epilogue;
    if (!epilogue || kernel.find(epilogue->hash()) != std::string_view::npos) return;
    throw ConfigError("dump",
                      {fmt::format("the spec has the epilogue '{}', but the kernel {} was made for another: write "
                                   "a dump of the new epilogue, or undo the edit",
                                   problem.asked.epilogue.text(), kernel)});
}

}  // namespace

KernelSource generate(const Problem& problem, const KernelConfig& config, const Arch& arch,
                      const TemplateSet& templates) {
    KernelSource source;
    source.id = {problem.signature, config};
    source.name = kernel_name(source.id);
    const Family& family = family_of(config);
    std::vector<std::string> reasons = family.violations(problem, config, arch);
    if (!reasons.empty()) throw ConfigError(fmt::format("kernel {}", source.name), std::move(reasons));
    source.arch = &arch;
    source.body = render(templates, family.template_file, family.render_input(problem.signature, config));
    source.entries = family.entries(problem.signature, config);
    return source;
}

std::string banner(const KernelSource& source, const Problem& problem) {
    const GemmSpec& asked = problem.asked;
    std::string text =
        fmt::format("// A GEMM kernel, generated by jitgemm: {}.\n// Read from `gemm` at the end upwards.\n//\n",
                    operands_line(problem));
    text +=
        fmt::format("{}{}\n{}{}{}\n{}{}{}\n", kKernelLabel, source.name, config_line(source.id.config), kSpecLabel,
                    to_string(asked), lines_line(asked) + turned_line(source, problem), kArchLabel, source.arch->name);
    for (const KernelEntry& entry : source.entries)
        text += fmt::format("//   launch   {}\n", launch_line(entry, problem.row_major()));
    text += pad_line(source.entries);
    text += fmt::format("//   compile  nvcc -arch={} -std=c++17 -cubin kernel.cu\n", source.arch->name);
    text +=
        "//   edited   jitgemm run --source kernel.cu   verifies and times your edits; m, n, k of the spec may "
        "change\n";
    text += fmt::format("//   command  jitgemm dump{} --arch {} --kernel {}\n", command_line_options(problem),
                        source.arch->name, source.name);
    text += kEndOfBanner;
    return text;
}

std::string dump(const KernelSource& source, const Problem& problem) { return banner(source, problem) + source.body; }

ParsedDump parse_dump(std::string_view text) {
    const std::size_t end = text.find(kEndOfBanner);
    if (end == std::string_view::npos)
        throw ConfigError("dump", {"no 'end of banner' line: is this a file that jitgemm dump wrote?"});
    ParsedDump parsed;
    parsed.spec = parse_gemm_spec(labelled_line(text, kSpecLabel));
    const std::string_view name = labelled_line(text, kKernelLabel);
    if (!parsed.spec.epilogue.empty()) require_epilogue_of_kernel(problem_of(parsed.spec), name);
    parsed.id = parse_kernel_name(name);
    parsed.arch = &find_arch(labelled_line(text, kArchLabel));
    parsed.body = text.substr(end + kEndOfBanner.size());
    return parsed;
}

std::string command_line_options(const Problem& problem) {
    constexpr std::array<std::string_view, 4> kAlwaysSaid{"m", "n", "k", "layout"};
    const GemmSpec& spec = problem.asked;
    if (!spec.epilogue.empty()) return fmt::format(" \"{}\"", to_string(spec));  // it has quotes and layouts
    GemmSpec said = gemm_spec_of_type(spec.a);
    GemmSpec meant = resolved(said);
    std::string text;
    for (const GemmSpecField& field : gemm_spec_fields()) {
        if (field.key == "a") {
            text += fmt::format(" --type {}", to_string(spec.a));
            continue;
        }
        const bool follows = field.value(spec) == field.value(meant);  // from what is said already
        if (follows && std::ranges::find(kAlwaysSaid, field.key) == kAlwaysSaid.end()) continue;
        text += fmt::format(" --{} {}", field.option, field.print(spec));
        field.read(said, field.print(spec));
        if (problems(said).empty()) meant = resolved(said);  // else a later field makes it a problem
    }
    return text;
}

}  // namespace jitgemm
