#include "generator/families/split_k.hpp"

namespace jitgemm {
namespace {

constexpr int kReduceColumns = 256;  // of D a reduction block takes at a time: four a thread

}  // namespace

KernelEntry reduce_entry(const std::vector<KernelArgument>& arguments) {
    KernelEntry entry;
    entry.function = "gemm_reduce";
    entry.threads = kReduceThreads;
    entry.grid = {1, kReduceColumns, 1};
    entry.arguments = arguments;
    return entry;
}

std::int64_t partial_sum_bytes(const GemmSpec& spec, int splits) {
    return splits > 1 ? splits * spec.m * ((spec.n + 3) / 4 * 4) * 4 : 0;
}

}  // namespace jitgemm
