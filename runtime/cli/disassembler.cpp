#include "runtime/cli/disassembler.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/subprocess.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/temporary_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace jitgemm::cli {
namespace {

std::vector<std::string> command(const std::string& program, const std::string& cubin_file) {
    if (program.ends_with("nvdisasm")) return {program, "-c", cubin_file};
    return {program, "-sass", cubin_file};
}

}  // namespace

std::vector<std::string> disassembler_candidates(const Options& options) {
    std::vector<std::string> folders;
    if (!options.cuda_path.empty()) folders.push_back(options.cuda_path + "/bin/");
    folders.emplace_back();  // PATH
    constexpr std::string_view kUsual = "/usr/local/cuda/bin/";
    if (std::ranges::find(folders, kUsual) == folders.end()) folders.emplace_back(kUsual);
    std::vector<std::string> candidates;
    for (const std::string& folder : folders) {
        for (const char* program : {"cuobjdump", "nvdisasm"}) candidates.push_back(folder + program);
    }
    return candidates;
}

std::string disassemble(const std::string& cubin, const Options& options) {
    const TemporaryDirectory folder("jitgemm");
    const std::string file = folder.path() + "/kernel.cubin";
    write_new_file(file, cubin);
    const std::vector<std::string> candidates = disassembler_candidates(options);
    for (const std::string& program : candidates) {
        const auto result = run_program(command(program, file));
        if (!result) continue;
        if (result->exit_code == 0) return result->output;
        throw Error(fmt::format("{} failed with exit code {}", program, result->exit_code));
    }
    throw Error(fmt::format(
        "no disassembler found; looked for {} (they come with the CUDA toolkit; set CUDA_PATH to its folder)",
        fmt::join(candidates, ", ")));
}

}  // namespace jitgemm::cli
