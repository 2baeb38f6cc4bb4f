#pragma once

#include "jitgemm/jitgemm.h"
#include "tests/catch.hpp"

#include <memory>
#include <string>

namespace jitgemm::testing {

inline constexpr const char* kOptions = "device=emulator:sm_80; cache-dir=; cache-readonly=";

struct Destroy {
    void operator()(jg_context* context) const { jg_context_destroy(context); }
    void operator()(jg_kernel* kernel) const { jg_kernel_destroy(kernel); }
    void operator()(jg_prepared* prepared) const { jg_prepared_destroy(prepared); }
};
using OwnedContext = std::unique_ptr<jg_context, Destroy>;
using OwnedKernel = std::unique_ptr<jg_kernel, Destroy>;

inline OwnedContext new_context(const std::string& options = kOptions) {
    jg_context* context = nullptr;
    INFO(options);
    const jg_status status = jg_context_create(options.c_str(), &context);
    INFO(jg_last_error());
    REQUIRE(status == JG_OK);
    return OwnedContext(context);
}

inline OwnedKernel new_kernel(jg_context* context, const std::string& spec) {
    jg_kernel* kernel = nullptr;
    INFO(spec);
    const jg_status status = jg_kernel_create(context, spec.c_str(), &kernel);
    INFO(jg_last_error());
    REQUIRE(status == JG_OK);
    return OwnedKernel(kernel);
}

}  // namespace jitgemm::testing
