#include "runtime/cli/failure.hpp"

#include "generator/layout/int_tuple.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/emulator/fault.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace jitgemm::cli {
namespace {

struct Failure {
    int exit_code;
    Json error;  ///< "kind", "message" and what else is known
};

Failure plain(int exit_code, const char* kind, const std::exception& error) {
    return {exit_code, {{"kind", kind}, {"message", error.what()}}};
}

Failure reasoned(const char* kind, const ReasonedError& error) {
    Failure failure = plain(kExitUsage, kind, error);
    failure.error["reasons"] = error.reasons();
    return failure;
}

Failure compile_failure(const CompileError& error) {
    Failure failure = plain(kExitFailed, "compile", error);
    failure.error["log"] = error.log();
    return failure;
}

Failure cuda_failure(const CudaError& error) {
    Failure failure = plain(kExitFailed, "cuda", error);
    failure.error["result"] = error.result_name();
    failure.error["call"] = error.call();
    return failure;
}

Failure describe_current_exception() {
    try {
        throw;
    } catch (const Interrupted& error) {
        return plain(kExitInterrupted, "interrupted", error);
    } catch (const emulator::EmulatorStopped&) {
        return plain(kExitInterrupted, "interrupted", Interrupted());
    } catch (const UsageError& error) {
        return reasoned("usage", error);
    } catch (const SpecError& error) {
        return reasoned("spec", error);
    } catch (const ConfigError& error) {
        return reasoned("config", error);
    } catch (const LayoutError& error) {
        return plain(kExitUsage, "layout", error);
    } catch (const CompileError& error) {
        return compile_failure(error);
    } catch (const CudaError& error) {
        return cuda_failure(error);
    } catch (const emulator::EmulatorFault& error) {
        return plain(kExitFailed, "fault", error);
    } catch (const RenderError& error) {
        return plain(kExitFailed, "render", error);
    } catch (const std::exception& error) {
        return plain(kExitFailed, "error", error);
    }
}

/// The message, and the compiler's log where the message does not hold it already.
std::string for_people(const Json& error) {
    const auto message = error.at("message").get<std::string>();
    const auto log = error.value("log", std::string());
    return message.find(log) != std::string::npos ? message : fmt::format("{}\n{}", message, log);
}

}  // namespace

int report_failure(Output& output) {
    const Failure failure = describe_current_exception();
    output.note(fmt::format("jitgemm: {}", for_people(failure.error)));
    output.document({{"error", failure.error}, {"exit_code", failure.exit_code}});
    return failure.exit_code;
}

}  // namespace jitgemm::cli
