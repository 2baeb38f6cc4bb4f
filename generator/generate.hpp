#pragma once

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"

#include <string>
#include <string_view>

namespace jitgemm {

/// A generated kernel. m, n, k and the pointers among its arguments are those of Problem::row_major.
struct KernelSource : KernelText {
    KernelId id;  ///< `name` is its name
};

/// Renders the kernel for a problem and a config. Throws ConfigError with every violated rule, RenderError for a broken
/// template.
[[nodiscard]] KernelSource generate(const Problem& problem, const KernelConfig& config, const Arch& arch,
                                    const TemplateSet& templates = TemplateSet::embedded());

/// The comment block put in front of the body in a dump: spec, kernel name, launch geometry, compile line, reproducing
/// command. No date and no path; ends with the "end of banner" ruler line.
[[nodiscard]] std::string banner(const KernelSource& source, const Problem& problem);

/// banner + body: a whole .cu file.
[[nodiscard]] std::string dump(const KernelSource& source, const Problem& problem);

/// The parts that run --source reads from a dump: the banner's spec, kernel and arch, and the body, which may be
/// edited.
struct ParsedDump {
    GemmSpec spec;
    KernelId id;
    const Arch* arch = nullptr;
    std::string body;
};
/// Throws ConfigError with the banner line that is missing or malformed.
[[nodiscard]] ParsedDump parse_dump(std::string_view text);

/// A host program that is appended to a dump (dump --main). It allocates, launches, verifies exactly against its own
/// reference, and times. nvcc compiles the file as it is.
[[nodiscard]] std::string host_main(const KernelSource& source, const Problem& problem);

/// The command line options that reproduce this problem: "--m 1000 --n 777 ... --layout tn".
[[nodiscard]] std::string command_line_options(const Problem& problem);

}  // namespace jitgemm
