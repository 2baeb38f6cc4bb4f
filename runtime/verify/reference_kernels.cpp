#include "runtime/verify/reference_kernels.hpp"

#include "generator/base/round_up.hpp"
#include "runtime/verify/embedded_sources.hpp"
#include "runtime/verify/guarded_matrix.hpp"
#include "runtime/verify/reference_arguments.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace jitgemm {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kCheckTile = 64;
constexpr std::int64_t kMostBlocks = 1 << 20;  // the kernels loop over the rest

enum Entry {
    kFillEntry,
    kCompareEntry,
    kCheckExactEntry,
    kCheckBoundedEntry,
    kElementEntry,
    kGuardEntry,
    kReadEntry,
    kSumsEntry
};
constexpr std::array kFunctions = {"reference_fill",          "reference_compare", "reference_check_exact",
                                   "reference_check_bounded", "reference_element", "reference_guard",
                                   "reference_read",          "reference_sums"};

// As reference_kernels.cu has it.
struct ReadArguments {
    std::uint64_t data;
    std::int64_t count;
    std::uint64_t sink;
};

std::int64_t blocks_for(std::int64_t elements) {
    return std::clamp<std::int64_t>(ceil_div<std::int64_t>(elements, kThreads), 1, kMostBlocks);
}

std::int64_t elements_of(const DeviceMatrix& matrix) { return matrix.matrices * matrix.rows * matrix.columns; }

std::int64_t check_blocks(const DeviceMatrix& d) {
    return std::min(d.matrices * ceil_div(d.rows, kCheckTile) * ceil_div(d.columns, kCheckTile), kMostBlocks);
}

// Loaded once per context, like any kernel.
std::vector<Function> shared_functions(ContextState& context) {
    const auto load = [&] {
        const KernelText source = reference_kernel_source(*context.device->model().arch);
        return context.load(source, source.body);
    };
    return context.load_shared("reference kernels", load).kernel->functions;
}

}  // namespace

const std::string& reference_kernels_text() {
    static const std::string text = [] {
        const auto files = embedded_sources();
        return files.at("reference_arithmetic.cuh") + '\n' + files.at("reference_elements.cuh") + '\n' +
               files.at("reference_kernels.cu");
    }();
    return text;
}

KernelText reference_kernel_source(const Arch& arch) {
    KernelText source;
    source.name = "reference_kernels";
    source.arch = &arch;
    source.body = reference_kernels_text();
    for (const char* function : kFunctions) {
        KernelEntry entry;
        entry.function = function;
        entry.threads = kThreads;
        source.entries.push_back(std::move(entry));
    }
    return source;
}

ReferenceKernels::ReferenceKernels(ContextState& context)
    : device_(context.device), functions_(shared_functions(context)) {
    result_ = device_->allocate(sizeof(CheckResult));
}

ReferenceKernels::~ReferenceKernels() { device_->free(result_); }

template <typename Arguments>
void ReferenceKernels::launch(int entry, std::int64_t blocks, const Arguments& arguments, Stream stream) const {
    LaunchShape shape;
    shape.blocks = blocks;
    shape.threads = kThreads;
    device_->launch(functions_.at(static_cast<std::size_t>(entry)), shape, std::as_bytes(std::span(&arguments, 1)),
                    stream);
}

template <typename Arguments>
CheckResult ReferenceKernels::answer(int entry, std::int64_t blocks, Arguments arguments) const {
    CheckResult found;
    device_->copy_to_device(result_, &found, sizeof found);
    arguments.result = reinterpret_cast<device_code::CheckResult*>(result_.address);
    launch(entry, blocks, arguments);
    device_->synchronize(nullptr);
    device_->copy_to_host(&found, result_, sizeof found);
    return found;
}

void ReferenceKernels::fill(const DeviceMatrix& matrix, const Fill& fill) const {
    if (elements_of(matrix) != 0) launch(kFillEntry, blocks_for(elements_of(matrix)), fill_arguments(matrix, fill));
}

CheckResult ReferenceKernels::compare(const DeviceMatrix& matrix, const Fill& fill) const {
    if (elements_of(matrix) == 0) return {};
    return answer(kCompareEntry, blocks_for(elements_of(matrix)),
                  device_code::CompareArguments{fill_arguments(matrix, fill), nullptr, -1});
}

CheckResult ReferenceKernels::compared_element(const DeviceMatrix& matrix, const Fill& fill,
                                               std::uint64_t number) const {
    return answer(kCompareEntry, 1,
                  device_code::CompareArguments{fill_arguments(matrix, fill), nullptr, static_cast<long long>(number)});
}

CheckResult ReferenceKernels::check(const Check& check) const {
    if (elements_of(check.d) == 0) return {};
    return answer(check.exact ? kCheckExactEntry : kCheckBoundedEntry, check_blocks(check.d), check_arguments(check));
}

std::vector<ProductSum> ReferenceKernels::sums(const Check& check) const {
    static_assert(sizeof(ProductSum) == sizeof(device_code::ProductSum));
    std::vector<ProductSum> sums(static_cast<std::size_t>(elements_of(check.d)));
    if (sums.empty()) return sums;
    const DeviceMemory memory(device_, static_cast<std::int64_t>(sums.size() * sizeof(ProductSum)));
    device_code::CheckArguments arguments = check_arguments(check);
    arguments.sums = reinterpret_cast<device_code::ProductSum*>(memory.data().address);
    launch(kSumsEntry, check_blocks(check.d), arguments);
    device_->synchronize(nullptr);
    device_->copy_to_host(sums.data(), memory.data(), sums.size() * sizeof(ProductSum));
    return sums;
}

CheckResult ReferenceKernels::element(const Check& check, std::uint64_t number) const {
    device_code::CheckArguments arguments = check_arguments(check);
    const auto [problem, row, column] = place_of(check.d, number);
    arguments.at = {problem, row, column};
    return answer(kElementEntry, 1, arguments);
}

std::int64_t ReferenceKernels::guard_damage(const GuardedLines& lines, std::uint8_t pattern) const {
    const device_code::GuardArguments arguments = guard_arguments(lines, pattern);
    return static_cast<std::int64_t>(
        answer(kGuardEntry, blocks_for(device_code::guard_count(arguments)), arguments).guard_damage);
}

void ReferenceKernels::read(DevicePointer data, std::int64_t bytes, Stream stream) const {
    const std::int64_t count = bytes / 16;
    launch(kReadEntry, std::min<std::int64_t>(blocks_for(count), 4096),
           ReadArguments{data.address, count, result_.address}, stream);
}

}  // namespace jitgemm
