#include "runtime/verify/reference_kernels.hpp"

#include "generator/base/round_up.hpp"
#include "runtime/verify/embedded_sources.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace jitgemm {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kCheckTile = 64;
constexpr std::int64_t kMostBlocks = 1 << 20;  // the kernels loop over the rest

enum Entry { kFillEntry, kCompareEntry, kCheckExactEntry, kCheckBoundedEntry, kElementEntry, kGuardEntry, kReadEntry };
constexpr std::array kFunctions = {"reference_fill",          "reference_compare", "reference_check_exact",
                                   "reference_check_bounded", "reference_element", "reference_guard",
                                   "reference_read"};

// The argument structs of reference_kernels.cu.
struct FillArguments {
    std::uint64_t data;
    std::int64_t rows, columns, row_stride, column_stride;
    std::uint64_t seed;
    std::int32_t type, kind, range;
    std::uint32_t constant;
    std::int64_t group;
};
static_assert(sizeof(FillArguments) == 72);

struct CompareArguments {
    FillArguments fill;
    std::uint64_t result;
    std::int64_t place;
};
static_assert(sizeof(CompareArguments) == 88);

struct OperandArgument {
    std::uint64_t data;
    std::int64_t row_stride, column_stride;
    std::int32_t type, unused;
};

struct CheckArguments {
    OperandArgument a, b, c, d;
    std::int64_t m, n, k;
    double alpha, beta, sum_unit, output_unit, output_floor;
    std::int32_t exact, unused;
    std::uint64_t result;
    std::int64_t row, column;
};
static_assert(sizeof(CheckArguments) == 224);

struct GuardArguments {
    std::uint64_t data;
    std::int64_t front, lines, run, pitch, back;
    std::int32_t pattern, unused;
    std::uint64_t result;
};
static_assert(sizeof(GuardArguments) == 64);

struct ReadArguments {
    std::uint64_t data;
    std::int64_t count;
    std::uint64_t sink;
};

// The kernels know element types by these numbers.
static_assert(static_cast<int>(DataType::f16) == 0 && static_cast<int>(DataType::bf16) == 1 &&
              static_cast<int>(DataType::f32) == 2);
static_assert(static_cast<int>(DataType::tf32) == 3 && static_cast<int>(DataType::e4m3) == 4 &&
              static_cast<int>(DataType::e5m2) == 5);
static_assert(static_cast<int>(DataType::s8) == 6 && static_cast<int>(DataType::s32) == 7);

std::int64_t blocks_for(std::int64_t elements) {
    return std::clamp<std::int64_t>(ceil_div<std::int64_t>(elements, kThreads), 1, kMostBlocks);
}

FillArguments fill_request(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns, const Fill& fill) {
    return {matrix.data.address,
            rows,
            columns,
            matrix.row_stride,
            matrix.column_stride,
            fill.seed,
            static_cast<std::int32_t>(matrix.type),
            static_cast<std::int32_t>(fill.kind),
            fill.range,
            fill.constant,
            fill.group};
}

OperandArgument operand(const DeviceMatrix& matrix) {
    return {matrix.data.address, matrix.row_stride, matrix.column_stride, static_cast<std::int32_t>(matrix.type), 0};
}

CheckArguments check_arguments(const Check& check, DevicePointer result, std::int64_t row, std::int64_t column) {
    return {operand(check.a),
            operand(check.b),
            operand(check.c),
            operand(check.d),
            check.m,
            check.n,
            check.k,
            check.alpha,
            check.beta,
            check.sum_unit,
            check.output_unit,
            check.output_floor,
            check.exact ? 1 : 0,
            0,
            result.address,
            row,
            column};
}

// Loaded once a context, like any kernel.
std::vector<Function> shared_functions(ContextState& context) {
    std::shared_ptr<ContextState::LoadSlot> slot;
    {
        const std::unique_lock lock(context.mutex);
        std::shared_ptr<ContextState::LoadSlot>& known = context.loaded["reference kernels"];
        if (known == nullptr) known = std::make_shared<ContextState::LoadSlot>();
        slot = known;
    }
    const std::lock_guard lock(slot->mutex);
    if (slot->kernel == nullptr) {
        const KernelSource source = reference_kernel_source(*context.device->model().arch);
        slot->kernel = std::make_shared<const LoadedKernel>(context.load(source, source.body));
    }
    return slot->kernel->functions;
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

KernelSource reference_kernel_source(const Arch& arch) {
    KernelSource source;
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

void ReferenceKernels::clear_result() const {
    const CheckResult none;
    device_->copy_to_device(result_, &none, sizeof none);
}

CheckResult ReferenceKernels::result() const {
    device_->synchronize(nullptr);
    CheckResult found;
    device_->copy_to_host(&found, result_, sizeof found);
    return found;
}

void ReferenceKernels::fill(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns,
                            const Fill& fill) const {
    if (rows == 0 || columns == 0) return;
    launch(kFillEntry, blocks_for(rows * columns), fill_request(matrix, rows, columns, fill));
}

CheckResult ReferenceKernels::compare(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns,
                                      const Fill& fill) const {
    if (rows == 0 || columns == 0) return {};
    clear_result();
    launch(kCompareEntry, blocks_for(rows * columns),
           CompareArguments{fill_request(matrix, rows, columns, fill), result_.address, -1});
    return result();
}

CheckResult ReferenceKernels::compared_element(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns,
                                               const Fill& fill, std::uint64_t place) const {
    clear_result();
    launch(
        kCompareEntry, 1,
        CompareArguments{fill_request(matrix, rows, columns, fill), result_.address, static_cast<std::int64_t>(place)});
    return result();
}

CheckResult ReferenceKernels::check(const Check& check) const {
    if (check.m == 0 || check.n == 0) return {};
    clear_result();
    const std::int64_t tiles = ceil_div(check.m, kCheckTile) * ceil_div(check.n, kCheckTile);
    launch(check.exact ? kCheckExactEntry : kCheckBoundedEntry, std::min(tiles, kMostBlocks),
           check_arguments(check, result_, 0, 0));
    return result();
}

CheckResult ReferenceKernels::element(const Check& check, std::int64_t row, std::int64_t column) const {
    clear_result();
    launch(kElementEntry, 1, check_arguments(check, result_, row, column));
    return result();
}

std::int64_t ReferenceKernels::guard_damage(const GuardedLines& lines, std::uint8_t pattern) const {
    clear_result();
    const std::int64_t gaps = std::max<std::int64_t>(lines.lines - 1, 0) * (lines.pitch - lines.run);
    launch(kGuardEntry, blocks_for(lines.front + gaps + lines.back),
           GuardArguments{lines.buffer.address, lines.front, lines.lines, lines.run, lines.pitch, lines.back, pattern,
                          0, result_.address});
    return static_cast<std::int64_t>(result().guard_damage);
}

void ReferenceKernels::read(DevicePointer data, std::int64_t bytes, Stream stream) const {
    const std::int64_t count = bytes / 16;
    launch(kReadEntry, std::min<std::int64_t>(blocks_for(count), 4096),
           ReadArguments{data.address, count, result_.address}, stream);
}

}  // namespace jitgemm
