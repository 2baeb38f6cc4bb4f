#include "runtime/cli/device_context.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/context/context_state.hpp"

#include <fmt/format.h>

namespace jitgemm::cli {

Context open_context(const Options& options, Output& output) {
    try {
        output.progress(fmt::format("opening {}", options.device));
        Context context(options);
        output.progress("");
        std::shared_ptr<Compiler>& compiler = state_of(context).compiler;
        compiler = announced(std::move(compiler), output);
        return context;
    } catch (const CudaError& error) {
        throw CudaError(
            fmt::format("{}\n'jitgemm doctor' shows what is missing; list, dump and run --device emulator need no GPU",
                        error.what()),
            error.result_name(), error.call());
    }
}

}  // namespace jitgemm::cli
