#include "runtime/cli/cli_context.hpp"

#include "runtime/cuda/driver.hpp"
#include "runtime/support/log.hpp"

#include <string>

namespace jitgemm::cli {

Options tool_options() {
    Options options = Options::from_environment();
    set_log_level(options.log_level);
    return options;
}

TemplateSet templates_of(const Options& options) {
    if (options.template_directory.empty()) return TemplateSet::embedded();
    return TemplateSet::from_directory(options.template_directory);
}

std::shared_ptr<Compiler> compiler_of(const Options& options, int newest_major) {
    return make_nvrtc_compiler(options, newest_major, options.cache_directory);
}

KernelCache cache_of(const Options& options) { return {options.cache_directory, options.readonly_cache_directory}; }

int newest_major_of_machine() { return driver_version() / 10; }

}  // namespace jitgemm::cli
