#include "runtime/tuning/workers/named_kernel.hpp"

#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"

namespace jitgemm::tuning {

KernelConfig config_of_kernel(const GemmSpec& spec, const std::string& kernel) {
    const KernelId id = parse_kernel_name(kernel);
    const KernelId wanted{signature(spec), id.config};
    if (wanted == id) return id.config;
    throw ConfigError(kernel + " does not compute " + to_string(spec),
                      {"for this problem that config is called " + kernel_name(wanted)});
}

}  // namespace jitgemm::tuning
