#include "runtime/cli/device_context.hpp"

#include <fmt/format.h>

namespace jitgemm::cli {

Context open_context(const Options& options) {
    try {
        return Context(options);
    } catch (const CudaError& error) {
        throw CudaError(fmt::format("{}\n'jitgemm doctor' says what is missing; list and dump need no GPU, and run "
                                    "--device emulator none either",
                                    error.what()),
                        error.result_name(), error.call());
    }
}

}  // namespace jitgemm::cli
