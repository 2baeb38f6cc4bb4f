/// \file The functions of include/jitgemm/jitgemm.h.

#include "generator/base/spec_text.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/jitgemm.h"
#include "jitgemm/version.hpp"
#include "runtime/c_api/copied_operand.hpp"
#include "runtime/c_api/gemm_struct.hpp"
#include "runtime/c_api/host_launch.hpp"
#include "runtime/c_api/kernel_query.hpp"
#include "runtime/c_api/options_text.hpp"
#include "runtime/c_api/sized_struct.hpp"
#include "runtime/c_api/status.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/on_miss_name.hpp"

#include <array>
#include <memory>
#include <optional>
#include <utility>

/// Lives until it and all its kernels are destroyed: they tune by it.
struct jg_context {
    std::shared_ptr<jitgemm::Context> context;
};

struct jg_kernel {
    std::shared_ptr<jitgemm::Context> context;
    jitgemm::GemmSpec asked;  ///< the context's kernels are known by it
    jitgemm::GemmKernel kernel;
    bool emulated = false;
};

struct jg_prepared {
    jitgemm::PreparedOperand operand;
};

struct jg_kernel_set {
    std::shared_ptr<jitgemm::Context> context;
    jitgemm::GemmKernelSet set;
    bool emulated = false;
};

namespace {

using namespace jitgemm;
using namespace jitgemm::c_api;

constexpr std::size_t kFirstArgumentsBytes =
    offsetof(jg_arguments, workspace_bytes) + sizeof(jg_arguments::workspace_bytes);

constexpr std::size_t kFirstRequestBytes = offsetof(jg_request, on_miss) + sizeof(jg_request::on_miss);

Options options_of(const char* text) {
    Options options = Options::from_environment();
    if (text != nullptr) read_options(options, text);
    return options;
}

jg_kernel* new_kernel(const jg_context& of, const GemmSpec& spec, const KernelRequest& request = {}) {
    GemmKernel kernel = of.context->kernel(spec, request);
    const bool emulated = state_of(kernel).device->kind() == DeviceKind::emulator;
    return std::make_unique<jg_kernel>(jg_kernel{of.context, spec, std::move(kernel), emulated}).release();
}

GemmSpec spec_of(const jg_request& request) {
    if ((request.spec != nullptr) == (request.gemm != nullptr))
        throw InvalidArgument(fmt::format("jg_request.spec and .gemm are {}: set one of them",
                                          request.spec == nullptr ? "both NULL" : "both set"));
    return request.spec != nullptr ? parse_spec_text(request.spec) : parse_gemm_spec(text_of(request.gemm));
}

KernelRequest policy_of(const jg_request& request) {
    if (request.on_miss == nullptr) return {};
    if (const std::optional<OnMiss> known = parse_on_miss(request.on_miss)) return {.on_miss = known};
    throw InvalidArgument("jg_request.on_miss: " + expected_one_of(request.on_miss, kOnMissNames));
}

std::string answer_of(const GemmKernelSet& set, std::string_view what) {
    if (what == "text") return set.text();
    if (what == "json") return set.json();
    throw InvalidArgument(fmt::format("query '{}': expected text or json", what));
}

void add_operand(OperandArguments& operands, const jg_operand& given, std::size_t place) {
    if (given.name == nullptr)
        throw InvalidArgument(fmt::format("jg_arguments.operands[{}].name is NULL: each operand has a name", place));
    if (operands.find(given.name) != nullptr)
        throw InvalidArgument(
            fmt::format("jg_arguments.operands[{}].name is '{}', as of an operand before it", place, given.name));
    OperandArgument operand(given.name, DevicePointer(given.pointer));
    operand.value = given.value;
    operands.set(operand);
}

OperandArguments operands_of(const jg_arguments& given) {
    if (given.operand_count > OperandArguments::kMost)
        throw InvalidArgument(fmt::format("jg_arguments.operand_count is {}: a launch has at most {} operands",
                                          given.operand_count, OperandArguments::kMost));
    if (given.operand_count != 0 && given.operands == nullptr)
        throw InvalidArgument(
            fmt::format("jg_arguments.operands is NULL, but operand_count is {}", given.operand_count));
    OperandArguments operands;
    for (std::size_t i = 0; i < given.operand_count; ++i) add_operand(operands, given.operands[i], i);
    return operands;
}

GemmArguments arguments_of(const jg_arguments* given) {
    const jg_arguments known = read_struct(given, "jg_arguments", kFirstArgumentsBytes);
    if (known.dependent_launch < JG_DEPENDENT_AUTO || known.dependent_launch > JG_DEPENDENT_ON)
        throw InvalidArgument(fmt::format(
            "jg_arguments.dependent_launch is {}: expected JG_DEPENDENT_AUTO, _OFF or _ON", known.dependent_launch));
    if (known.broadcast_c != 0 && known.broadcast_c != 1)
        throw InvalidArgument(
            fmt::format("jg_arguments.broadcast_c is {}: expected 0, or 1 for a C of one row", known.broadcast_c));
    return {.a = known.a,
            .b = known.b,
            .c = known.c,
            .d = known.d,
            .alpha = known.alpha,
            .beta = known.beta,
            .workspace = known.workspace,
            .workspace_bytes = known.workspace_bytes,
            .dependent_launch = static_cast<DependentLaunch>(known.dependent_launch),
            .broadcast_c = known.broadcast_c == 1,
            .offsets = known.offsets,
            .row_index = known.row_index,
            .operands = operands_of(known)};
}

const PreparedOperand* operand_of(const jg_prepared* prepared) {
    return prepared == nullptr ? nullptr : &prepared->operand;
}

Prepared operand_named(char letter) {
    if (letter == 'a') return Prepared::a;
    if (letter == 'b') return Prepared::b;
    throw InvalidArgument(fmt::format("operand is '{}': expected 'a' or 'b'", letter));
}

void launch_kernel(const GemmKernel& kernel, bool emulated, const jg_arguments* arguments, void* stream,
                   const jg_prepared* a = nullptr, const jg_prepared* b = nullptr) {
    GemmArguments operands = arguments_of(arguments);
    operands.prepared_a = operand_of(a);
    operands.prepared_b = operand_of(b);
    if (emulated)
        launch_on_host(kernel, operands);
    else
        kernel.launch(operands, stream);
}

LogListener listener_of(jg_log_callback* callback, void* user) {
    if (callback == nullptr) return {};
    return [callback, user](LogLevel level, const std::string& message) {
        callback(static_cast<std::int32_t>(level), message.c_str(), user);
    };
}

static_assert(static_cast<int>(DependentLaunch::automatic) == JG_DEPENDENT_AUTO &&
              static_cast<int>(DependentLaunch::off) == JG_DEPENDENT_OFF &&
              static_cast<int>(DependentLaunch::on) == JG_DEPENDENT_ON);
static_assert(sizeof(jg_operand) == 3 * sizeof(void*));  // for good: operands stand in an array
static_assert(static_cast<int>(LogLevel::trace) == JG_LOG_TRACE && static_cast<int>(LogLevel::debug) == JG_LOG_DEBUG &&
              static_cast<int>(LogLevel::info) == JG_LOG_INFO &&
              static_cast<int>(LogLevel::warning) == JG_LOG_WARNING &&
              static_cast<int>(LogLevel::error) == JG_LOG_ERROR);

}  // namespace

const char* jg_last_error() { return last_error(); }

const char* jg_version() { return kVersion; }

jg_status jg_set_log(jg_log_callback* callback, void* user) {
    return guarded([&] { set_log_listener(listener_of(callback, user)); });
}

jg_status jg_context_create(const char* options, jg_context** context) {
    return guarded([&] {
        checked(context, "context") = nullptr;
        *context = std::make_unique<jg_context>(jg_context{std::make_shared<Context>(options_of(options))}).release();
    });
}

void jg_context_destroy(jg_context* context) {
    forget_error();
    delete context;
}

jg_status jg_kernel_create(jg_context* context, const char* spec, jg_kernel** kernel) {
    return guarded([&] {
        checked(kernel, "kernel") = nullptr;
        *kernel = new_kernel(checked(context, "context"), parse_spec_text(&checked(spec, "spec")));
    });
}

jg_status jg_kernel_create_from_gemm(jg_context* context, const jg_gemm* gemm, jg_kernel** kernel) {
    return guarded([&] {
        checked(kernel, "kernel") = nullptr;
        *kernel = new_kernel(checked(context, "context"), parse_gemm_spec(text_of(gemm)));
    });
}

jg_status jg_kernel_request(jg_context* context, const jg_request* request, jg_kernel** kernel) {
    return guarded([&] {
        checked(kernel, "kernel") = nullptr;
        const jg_request known = read_struct(request, "jg_request", kFirstRequestBytes);
        *kernel = new_kernel(checked(context, "context"), spec_of(known), policy_of(known));
    });
}

void jg_kernel_destroy(jg_kernel* kernel) {
    forget_error();
    delete kernel;
}

jg_status jg_kernel_tune(jg_kernel* kernel) {
    return guarded([&] {
        const jg_kernel& known = checked(kernel, "kernel");
        // All handles of the problem change with it, this one too.
        static_cast<void>(known.context->kernel(known.asked, Tune::now));
    });
}

jg_status jg_kernel_query(const jg_kernel* kernel, const char* what, void* buffer, size_t* size) {
    return guarded(
        [&] { query(checked(kernel, "kernel").kernel, &checked(what, "what"), buffer, checked(size, "size")); });
}

jg_status jg_kernel_launch(const jg_kernel* kernel, const jg_arguments* arguments, void* stream) {
    return guarded([&] {
        const jg_kernel& known = checked(kernel, "kernel");
        launch_kernel(known.kernel, known.emulated, arguments, stream);
    });
}

jg_status jg_kernel_prepare(const jg_kernel* kernel, char operand, const void* matrix, void* memory, size_t bytes,
                            void* stream, jg_prepared** prepared) {
    return guarded([&] {
        checked(prepared, "prepared") = nullptr;
        const jg_kernel& known = checked(kernel, "kernel");
        const Prepared which = operand_named(operand);
        PreparedOperand made = known.emulated ? prepare_copied(known.kernel, which, matrix)
                                              : prepare(known.kernel, which, matrix, stream, memory, bytes);
        *prepared = std::make_unique<jg_prepared>(jg_prepared{std::move(made)}).release();
    });
}

void jg_prepared_destroy(jg_prepared* prepared) {
    forget_error();
    delete prepared;
}

jg_status jg_prepared_form(const jg_prepared* prepared, char* buffer, size_t* size) {
    return guarded([&] {
        write_answer(checked(prepared, "prepared").operand.form() + '\0', "form", buffer, checked(size, "size"));
    });
}

jg_status jg_kernel_launch_prepared(const jg_kernel* kernel, const jg_arguments* arguments, const jg_prepared* a,
                                    const jg_prepared* b, void* stream) {
    return guarded([&] {
        const jg_kernel& known = checked(kernel, "kernel");
        launch_kernel(known.kernel, known.emulated, arguments, stream, a, b);
    });
}

jg_status jg_kernel_set_create(jg_context* context, const char* spec, int64_t first_m, int64_t last_m,
                               jg_kernel_set** set) {
    return guarded([&] {
        checked(set, "set") = nullptr;
        const jg_context& of = checked(context, "context");
        GemmKernelSet kernels = of.context->kernels(parse_spec_text(&checked(spec, "spec")), first_m, last_m);
        const bool emulated = state_of(*of.context).device->kind() == DeviceKind::emulator;
        *set = std::make_unique<jg_kernel_set>(jg_kernel_set{of.context, std::move(kernels), emulated}).release();
    });
}

void jg_kernel_set_destroy(jg_kernel_set* set) {
    forget_error();
    delete set;
}

jg_status jg_kernel_set_kernel(const jg_kernel_set* set, int64_t m, jg_kernel** kernel) {
    return guarded([&] {
        checked(kernel, "kernel") = nullptr;
        const jg_kernel_set& known = checked(set, "set");
        GemmKernel of_m = known.set.kernel(m);
        const GemmSpec asked = of_m.spec();
        *kernel =
            std::make_unique<jg_kernel>(jg_kernel{known.context, asked, std::move(of_m), known.emulated}).release();
    });
}

jg_status jg_kernel_set_launch(const jg_kernel_set* set, int64_t m, const jg_arguments* arguments, void* stream) {
    return guarded([&] {
        const jg_kernel_set& known = checked(set, "set");
        launch_kernel(known.set.kernel(m), known.emulated, arguments, stream);
    });
}

jg_status jg_kernel_set_query(const jg_kernel_set* set, const char* what, void* buffer, size_t* size) {
    return guarded([&] {
        const std::string_view question = &checked(what, "what");
        write_answer(answer_of(checked(set, "set").set, question) + '\0', question, buffer, checked(size, "size"));
    });
}
