#include "runtime/verify/host_reference.hpp"

#include "runtime/verify/reference_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

// ---- the device code's words ----------------------------------------------------------------------------------------

namespace jitgemm::device_code {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "runtime/verify/reference_arithmetic.cuh"
#include "runtime/verify/reference_elements.cuh"
#pragma GCC diagnostic pop

}  // namespace
}  // namespace jitgemm::device_code

namespace jitgemm {
namespace {

/// A matrix of the device in host memory: all bytes from its first element to its last.
class HostMatrix {
public:
    HostMatrix(Device& device, const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns)
        : size_(extent(matrix, rows, columns)), bytes_(std::make_unique<std::byte[]>(size_)) {
        if (size_ != 0) device.copy_to_host(bytes_.get(), matrix.data, size_);
    }
    [[nodiscard]] std::byte* data() const { return bytes_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static std::size_t extent(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns) {
        if (!matrix.data || rows == 0 || columns == 0) return 0;
        const std::int64_t elements = (rows - 1) * matrix.row_stride + (columns - 1) * matrix.column_stride + 1;
        return static_cast<std::size_t>(elements * bytes(matrix.type));
    }

    std::size_t size_;
    std::unique_ptr<std::byte[]> bytes_;
};

device_code::FillArguments fill_arguments(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns,
                                          const Fill& fill) {
    return {.data = nullptr,
            .rows = rows,
            .columns = columns,
            .row_stride = matrix.row_stride,
            .column_stride = matrix.column_stride,
            .seed = fill.seed,
            .type = static_cast<int>(matrix.type),
            .kind = static_cast<int>(fill.kind),
            .range = fill.range,
            .constant = fill.constant,
            .group = fill.group};
}

void fill_elements(std::byte* data, const device_code::FillArguments& arguments) {
    for (std::int64_t row = 0; row < arguments.rows; ++row) {
        for (std::int64_t column = 0; column < arguments.columns; ++column) {
            device_code::store_bits(data, row * arguments.row_stride + column * arguments.column_stride, arguments.type,
                                    device_code::filled(arguments, row, column));
        }
    }
}

device_code::Operand operand(const DeviceMatrix& matrix, const HostMatrix& host) {
    return {.data = matrix.data ? host.data() : nullptr,
            .row_stride = matrix.row_stride,
            .column_stride = matrix.column_stride,
            .type = static_cast<int>(matrix.type),
            .unused = 0};
}

/// All four matrices on the host, and the device code's view of them.
class HostProblem {
public:
    HostProblem(Device& device, const Check& check)
        : a_(device, check.a, check.k == 0 ? 0 : check.m, check.k),
          b_(device, check.b, check.k, check.k == 0 ? 0 : check.n),
          c_(device, check.c, check.m, check.n),
          d_(device, check.d, check.m, check.n) {
        arguments_.a = operand(check.a, a_);
        arguments_.b = operand(check.b, b_);
        arguments_.c = operand(check.c, c_);
        arguments_.d = operand(check.d, d_);
        arguments_.m = check.m;
        arguments_.n = check.n;
        arguments_.k = check.k;
        arguments_.alpha = check.alpha;
        arguments_.beta = check.beta;
        arguments_.sum_unit = check.sum_unit;
        arguments_.output_unit = check.output_unit;
        arguments_.output_floor = check.output_floor;
        arguments_.exact = check.exact ? 1 : 0;
    }
    [[nodiscard]] const device_code::CheckArguments& arguments() const { return arguments_; }

private:
    HostMatrix a_, b_, c_, d_;
    device_code::CheckArguments arguments_{};
};

constexpr std::int64_t kGroup = 8;  // columns summed at a time: a count the compiler vectorises

std::int64_t padded(std::int64_t columns) { return (columns + kGroup - 1) / kGroup * kGroup; }

/// A matrix as doubles, its rows one after the other and each filled up with zeros to whole groups.
class Decoded {
public:
    Decoded(const device_code::Operand& operand, std::int64_t rows, std::int64_t columns)
        : pitch_(padded(columns)), values_(static_cast<std::size_t>(rows * pitch_)) {
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t column = 0; column < columns; ++column)
                values_[static_cast<std::size_t>(row * pitch_ + column)] = device_code::element(operand, row, column);
    }
    [[nodiscard]] const double* row(std::int64_t index) const { return values_.data() + index * pitch_; }

private:
    std::int64_t pitch_;
    std::vector<double> values_;
};

/// Adds a times a row of B to a row of sums; the loop that everything else is small against.
void add_scaled(std::vector<double>& sums, double a, const double* row) {
    for (auto group = sums.begin(); group != sums.end(); group += kGroup, row += kGroup)
        for (std::int64_t i = 0; i < kGroup; ++i) group[i] += a * row[i];
}

void add_scaled_magnitudes(std::vector<double>& sums, double a, const double* row) {
    for (auto group = sums.begin(); group != sums.end(); group += kGroup, row += kGroup)
        for (std::int64_t i = 0; i < kGroup; ++i) group[i] += std::fabs(a * row[i]);
}

/// Rows of D, checked one after the other.
class RowChecker {
public:
    RowChecker(const device_code::CheckArguments& arguments, const Decoded& a, const Decoded& b)
        : arguments_(arguments),
          a_(a),
          b_(b),
          sums_(static_cast<std::size_t>(padded(arguments.n))),
          magnitudes_(arguments.exact != 0 ? 0 : sums_.size()) {}

    void check(std::int64_t row) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(magnitudes_.begin(), magnitudes_.end(), 0.0);
        for (std::int64_t k = 0; k < arguments_.k; ++k) {
            add_scaled(sums_, a_.row(row)[k], b_.row(k));
            add_scaled_magnitudes(magnitudes_, a_.row(row)[k], b_.row(k));
        }
        for (std::int64_t column = 0; column < arguments_.n; ++column) judge(row, column);
    }
    [[nodiscard]] const CheckResult& result() const { return result_; }

private:
    void judge(std::int64_t row, std::int64_t column) {
        const auto index = static_cast<std::size_t>(column);
        const double magnitude = magnitudes_.empty() ? 0.0 : magnitudes_[index];
        const double error = device_code::relative_error(arguments_, sums_[index], magnitude, row, column);
        result_.largest_error = std::max(result_.largest_error, error);
        if (error <= 1) return;
        ++result_.wrong;
        result_.first = std::min(result_.first, static_cast<std::uint64_t>(row * arguments_.n + column));
    }

    const device_code::CheckArguments& arguments_;
    const Decoded& a_;
    const Decoded& b_;
    std::vector<double> sums_;
    std::vector<double> magnitudes_;
    CheckResult result_;
};

void merge(CheckResult& all, const CheckResult& part) {
    all.wrong += part.wrong;
    all.first = std::min(all.first, part.first);
    all.largest_error = std::max(all.largest_error, part.largest_error);
}

std::int64_t host_threads(std::int64_t rows) {
    return std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, std::max<std::int64_t>(rows, 1));
}

/// Bytes of [first, end) that are not the pattern.
std::int64_t damaged(std::span<const std::uint8_t> buffer, std::int64_t first, std::int64_t end, std::uint8_t pattern) {
    const auto range = buffer.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    return static_cast<std::int64_t>(range.size()) - std::count(range.begin(), range.end(), pattern);
}

}  // namespace

void HostReference::fill(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns, const Fill& fill) const {
    HostMatrix host(*device_, matrix, rows, columns);  // what lies between the lines stays
    if (host.size() == 0) return;
    fill_elements(host.data(), fill_arguments(matrix, rows, columns, fill));
    device_->copy_to_device(matrix.data, host.data(), host.size());
}

CheckResult HostReference::compare(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns,
                                   const Fill& fill) const {
    const HostMatrix host(*device_, matrix, rows, columns);
    device_code::FillArguments arguments = fill_arguments(matrix, rows, columns, fill);
    arguments.data = host.data();
    CheckResult found;
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            const device_code::FilledBits bits = device_code::filled_bits(arguments, row, column);
            if (bits.wanted == bits.found) continue;
            ++found.wrong;
            found.first = std::min(found.first, static_cast<std::uint64_t>(row * columns + column));
        }
    }
    return found;
}

CheckResult HostReference::compared_element(const DeviceMatrix& matrix, std::int64_t rows, std::int64_t columns,
                                            const Fill& fill, std::uint64_t place) const {
    const HostMatrix host(*device_, matrix, rows, columns);
    device_code::FillArguments arguments = fill_arguments(matrix, rows, columns, fill);
    arguments.data = host.data();
    const auto index = static_cast<std::int64_t>(place);
    const device_code::FilledBits bits = device_code::filled_bits(arguments, index / columns, index % columns);
    CheckResult found;
    found.expected = bits.wanted;
    found.got = bits.found;
    return found;
}

CheckResult HostReference::check(const Check& check) const {
    const HostProblem problem(*device_, check);
    const device_code::CheckArguments& arguments = problem.arguments();
    const Decoded a(arguments.a, check.k == 0 ? 0 : check.m, check.k);
    const Decoded b(arguments.b, check.k, check.n);
    const std::int64_t threads = host_threads(check.m);
    std::mutex mutex;
    CheckResult all;
    const auto check_share = [&](std::int64_t first_row) {
        RowChecker checker(arguments, a, b);
        for (std::int64_t row = first_row; row < check.m; row += threads) checker.check(row);
        const std::scoped_lock lock(mutex);
        merge(all, checker.result());
    };
    std::vector<std::jthread> workers;
    for (std::int64_t thread = 0; thread < threads; ++thread) workers.emplace_back(check_share, thread);
    workers.clear();  // joins
    return all;
}

CheckResult HostReference::element(const Check& check, std::int64_t row, std::int64_t column) const {
    const HostProblem problem(*device_, check);
    const device_code::CheckArguments& arguments = problem.arguments();
    double sum = 0;
    for (std::int64_t k = 0; k < check.k; ++k)
        sum += device_code::element(arguments.a, row, k) * device_code::element(arguments.b, k, column);
    CheckResult found;
    found.expected = device_code::finish(arguments, sum, 0.0, row, column).value;
    found.got = device_code::element(arguments.d, row, column);
    return found;
}

std::int64_t HostReference::guard_damage(const GuardedLines& lines, std::uint8_t pattern) const {
    const std::int64_t extent = lines.lines == 0 ? 0 : (lines.lines - 1) * lines.pitch + lines.run;
    std::vector<std::uint8_t> buffer(static_cast<std::size_t>(lines.front + extent + lines.back));
    device_->copy_to_host(buffer.data(), lines.buffer, buffer.size());
    std::int64_t sum = damaged(buffer, 0, lines.front, pattern);
    for (std::int64_t line = 0; line + 1 < lines.lines; ++line) {
        const std::int64_t begin = lines.front + line * lines.pitch;
        sum += damaged(buffer, begin + lines.run, begin + lines.pitch, pattern);
    }
    return sum + damaged(buffer, lines.front + extent, lines.front + extent + lines.back, pattern);
}

std::unique_ptr<Reference> make_reference(ContextState& context) {
    if (context.device->kind() == DeviceKind::emulator) return std::make_unique<HostReference>(context.device);
    return std::make_unique<ReferenceKernels>(context);
}

}  // namespace jitgemm
