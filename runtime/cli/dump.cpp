#include "generator/generate.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/disassembler.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/generation.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <memory>
#include <optional>

#include <unistd.h>

namespace jitgemm::cli {
namespace {

constexpr std::array<std::string_view, 4> kEmissions{"cu", "ptx", "cubin", "sass"};

struct DumpOptions {
    ProblemOptions problem;
    std::string emit = "cu";
    bool with_main = false;
    std::string output;  ///< empty or "-": stdout
};

/// A generated kernel in one of its forms.
struct Dump {
    GeneratedKernel kernel;
    std::string bytes;  ///< text, or a cubin
    std::optional<CompiledKernel> compiled;
};

void check_usage(const DumpOptions& options, const Output& output) {
    require_one_of("--emit", options.emit, kEmissions);
    if (options.with_main && options.emit != "cu") throw UsageError("--main needs --emit cu");
    const bool to_stdout = options.output.empty() || options.output == "-";
    if (options.emit == "cubin" && to_stdout && (output.json() || isatty(STDOUT_FILENO) != 0)) {
        throw UsageError("a cubin is binary: name a file with -o FILE");
    }
}

CompileRequest request_for(const KernelSource& source, const std::string& emit) {
    CompileRequest request = compile_request(source);
    if (emit == "ptx") request.arch = virtual_arch(request.arch);
    return request;
}

Dump make_dump(const DumpOptions& options, Output& output) {
    Dump dumped{generate_kernel(options.problem, output), {}, std::nullopt};
    const auto& [problem, source] = dumped.kernel;
    if (options.emit == "cu") {
        dumped.bytes = dump(source, problem) + (options.with_main ? host_main(source, problem) : "");
        return dumped;
    }
    const Options settings = options.problem.options();
    dumped.compiled = compile_kernel(dumped.kernel, request_for(source, options.emit), settings, output);
    dumped.bytes = options.emit == "sass" ? disassemble(dumped.compiled->binary, settings) : dumped.compiled->binary;
    return dumped;
}

Json compiled_json(const CompiledKernel& compiled) {
    return {{"registers", compiled.report.registers},     {"spill_bytes", compiled.report.spill_bytes()},
            {"stack_bytes", compiled.report.stack_bytes}, {"warnings", compiled.report.warnings},
            {"compile_ms", compiled.compile_ms},          {"nvrtc_version", compiled.nvrtc_version}};
}

Json document_of(const Dump& dumped, const DumpOptions& options, bool to_file) {
    const auto entry_json = [](const KernelEntry& entry) { return to_json(entry); };
    Json json{{"kernel", dumped.kernel.source.name},
              {"arch", dumped.kernel.source.arch->name},
              {"spec", to_json(dumped.kernel.problem.asked)},
              {"emit", options.emit},
              {"entries", json_array(dumped.kernel.source.entries, entry_json)},
              {"compiled", dumped.compiled ? compiled_json(*dumped.compiled) : Json()}};
    json["file"] = to_file ? Json(options.output) : Json();
    json["text"] = to_file ? Json() : Json(dumped.bytes);
    return json;
}

int run_dump(const DumpOptions& options, Output& output) {
    check_usage(options, output);
    const bool to_file = !options.output.empty() && options.output != "-";
    if (to_file) check_output_file("output", options.output);
    const Dump dumped = make_dump(options, output);
    if (to_file)
        write_output_file(options.output, dumped.bytes);
    else
        output.text(dumped.bytes);
    output.document(document_of(dumped, options, to_file));
    return kExitFine;
}

}  // namespace

Action declare_dump(CLI::App& app) {
    auto options = std::make_shared<DumpOptions>();
    options->problem.declare_for_target(app);
    app.add_option("--emit", options->emit, "cu, ptx, cubin or sass")->capture_default_str()->type_name("");
    app.add_flag("--main", options->with_main,
                 "Add a main function that verifies and times the kernel; nvcc compiles the file as it is");
    app.add_option("-o,--output", options->output, "Write to this file instead of stdout")->type_name("FILE");
    return [options](Output& output) { return run_dump(*options, output); };
}

}  // namespace jitgemm::cli
