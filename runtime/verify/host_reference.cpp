#include "runtime/verify/host_reference.hpp"

#include "runtime/verify/on_cores.hpp"
#include "runtime/verify/reference_arguments.hpp"
#include "runtime/verify/reference_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

namespace jitgemm {
namespace {

/// Matrices of the device in host memory: all bytes from the first element to the last.
class HostMatrix {
public:
    HostMatrix(Device& device, const DeviceMatrix& matrix)
        : size_(static_cast<std::size_t>(matrix.extent_bytes())), bytes_(std::make_unique<std::byte[]>(size_)) {
        if (size_ != 0) device.copy_to_host(bytes_.get(), matrix.data, size_);
    }
    [[nodiscard]] std::byte* data() const { return bytes_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::size_t size_;
    std::unique_ptr<std::byte[]> bytes_;
};

/// A matrix to fill or to compare with its fill, on the host.
struct HostFill {
    HostFill(Device& device, const DeviceMatrix& matrix, const Fill& fill)
        : host(device, matrix), arguments(fill_arguments(matrix, fill)) {
        arguments.matrix.data = host.data();
    }
    /// Visits every element's place, in the order of their numbers.
    template <typename Visit>
    void each(Visit visit) const {
        const auto [problems, rows, columns] = arguments.extents;
        device_code::Place at{};
        for (at.problem = 0; at.problem < problems; ++at.problem)
            for (at.row = 0; at.row < rows; ++at.row)
                for (at.column = 0; at.column < columns; ++at.column) visit(at);
    }

    HostMatrix host;
    device_code::FillArguments arguments;
};

/// All operands on the host, and the device code's view of them.
class HostProblem {
public:
    HostProblem(Device& device, const Check& check) : arguments_(check_arguments(check)) {
        const auto bring = [&](device_code::Operand& operand, const DeviceMatrix& matrix) {
            if (matrix.data) operand.data = matrices_.emplace_back(device, matrix).data();
        };
        if (check.k != 0) {
            bring(arguments_.a, check.a);
            bring(arguments_.b, check.b);
            bring(arguments_.scale_a.elements, check.scale_a.elements);
            bring(arguments_.scale_b.elements, check.scale_b.elements);
        }
        bring(arguments_.c, check.c);
        bring(arguments_.d, check.d);
    }
    [[nodiscard]] const device_code::CheckArguments& arguments() const { return arguments_; }

private:
    std::vector<HostMatrix> matrices_;
    device_code::CheckArguments arguments_;
};

constexpr std::int64_t kGroup = 8;  // columns summed at a time: a count the compiler vectorises

std::int64_t padded(std::int64_t columns) { return (columns + kGroup - 1) / kGroup * kGroup; }

/// B as doubles, the rows of all problems one after the other and each filled up with zeros to whole groups.
class DecodedB {
public:
    explicit DecodedB(const device_code::CheckArguments& arguments)
        : rows_(arguments.k),
          pitch_(padded(arguments.extents.columns)),
          values_(static_cast<std::size_t>(arguments.extents.problems * rows_ * pitch_)) {
        auto value = values_.begin();
        for (std::int64_t problem = 0; problem < arguments.extents.problems; ++problem)
            for (std::int64_t k = 0; k < rows_; ++k, value += pitch_)
                for (std::int64_t column = 0; column < arguments.extents.columns; ++column)
                    value[column] = device_code::scaled_b(arguments, problem, k, column);
    }
    [[nodiscard]] const double* row(std::int64_t problem, std::int64_t k) const {
        return values_.data() + (problem * rows_ + k) * pitch_;
    }

private:
    std::int64_t rows_;
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
    RowChecker(const device_code::CheckArguments& arguments, const DecodedB& b)
        : arguments_(arguments),
          b_(b),
          sums_(static_cast<std::size_t>(padded(arguments.extents.columns))),
          magnitudes_(arguments.exact != 0 ? 0 : sums_.size()) {}

    /// Of one row of D.
    void add_up(std::int64_t problem, std::int64_t row) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(magnitudes_.begin(), magnitudes_.end(), 0.0);
        for (std::int64_t k = 0; k < arguments_.k; ++k) {
            const double a = device_code::scaled_a(arguments_, problem, row, k);
            add_scaled(sums_, a, b_.row(problem, k));
            add_scaled_magnitudes(magnitudes_, a, b_.row(problem, k));
        }
    }
    [[nodiscard]] ProductSum sum(std::int64_t column) const {
        const auto index = static_cast<std::size_t>(column);
        return {sums_[index], magnitudes_.empty() ? 0.0 : magnitudes_[index]};
    }

    void check(std::int64_t problem, std::int64_t row) {
        add_up(problem, row);
        for (std::int64_t column = 0; column < arguments_.extents.columns; ++column) judge({problem, row, column});
    }
    [[nodiscard]] const CheckResult& result() const { return result_; }

private:
    void judge(device_code::Place at) {
        const auto [sum, magnitude] = this->sum(at.column);
        const double error = device_code::relative_error(arguments_, sum, magnitude, at);
        result_.largest_error = std::max(result_.largest_error, error);
        if (error <= 1) return;
        ++result_.wrong;
        result_.first = std::min<std::uint64_t>(result_.first, device_code::number_of(at, arguments_.extents));
    }

    const device_code::CheckArguments& arguments_;
    const DecodedB& b_;
    std::vector<double> sums_;
    std::vector<double> magnitudes_;
    CheckResult result_;
};

/// Calls `visit(checker, problem, row)` for each row of D, and `done(checker)` for the checker of each share of them.
template <typename Visit, typename Done>
void each_row(const device_code::CheckArguments& arguments, const Visit& visit, const Done& done) {
    const DecodedB b(arguments);
    const std::int64_t rows = arguments.extents.rows, all_rows = arguments.extents.problems * rows;
    on_cores(all_rows, [&](std::int64_t share, std::int64_t shares) {
        RowChecker checker(arguments, b);
        for (std::int64_t i = share; i < all_rows; i += shares) visit(checker, i / rows, i % rows);
        done(checker);
    });
}

}  // namespace

void HostReference::fill(const DeviceMatrix& matrix, const Fill& fill) const {
    const HostFill work(*device_, matrix, fill);  // what lies between the lines stays
    if (work.host.size() == 0) return;
    const device_code::Operand& to = work.arguments.matrix;
    work.each([&](device_code::Place at) {
        device_code::store_bits(to.data, device_code::index_of(to, at), to.type,
                                device_code::filled(work.arguments, at));
    });
    device_->copy_to_device(matrix.data, work.host.data(), work.host.size());
}

CheckResult HostReference::compare(const DeviceMatrix& matrix, const Fill& fill) const {
    const HostFill work(*device_, matrix, fill);
    CheckResult found;
    work.each([&](device_code::Place at) {
        const device_code::FilledBits bits = device_code::filled_bits(work.arguments, at);
        if (bits.wanted == bits.found) return;
        ++found.wrong;
        found.first = std::min<std::uint64_t>(found.first, device_code::number_of(at, work.arguments.extents));
    });
    return found;
}

CheckResult HostReference::compared_element(const DeviceMatrix& matrix, const Fill& fill, std::uint64_t number) const {
    const HostFill work(*device_, matrix, fill);
    const device_code::Place at = device_code::place_of(static_cast<long long>(number), work.arguments.extents);
    const device_code::FilledBits bits = device_code::filled_bits(work.arguments, at);
    CheckResult found;
    found.expected = bits.wanted;
    found.got = bits.found;
    return found;
}

CheckResult HostReference::check(const Check& check) const {
    const HostProblem host(*device_, check);
    CheckResult all;
    std::mutex mutex;
    each_row(
        host.arguments(),
        [](RowChecker& checker, std::int64_t problem, std::int64_t row) { checker.check(problem, row); },
        [&](const RowChecker& checker) {
            const std::scoped_lock lock(mutex);
            merge(all, checker.result());
        });
    return all;
}

std::vector<ProductSum> HostReference::sums(const Check& check) const {
    Check product = check;  // nothing else is copied
    product.c = {};
    const HostProblem host(*device_, product);
    const device_code::Extents extents = host.arguments().extents;
    std::vector<ProductSum> sums(static_cast<std::size_t>(device_code::count_of(extents)));
    each_row(
        host.arguments(),
        [&](RowChecker& checker, std::int64_t problem, std::int64_t row) {
            checker.add_up(problem, row);
            for (std::int64_t column = 0; column < extents.columns; ++column)
                sums[device_code::number_of({problem, row, column}, extents)] = checker.sum(column);
        },
        [](const RowChecker&) {});
    return sums;
}

CheckResult HostReference::element(const Check& check, std::uint64_t number) const {
    const HostProblem host(*device_, check);
    const device_code::CheckArguments& arguments = host.arguments();
    const device_code::Place at = device_code::place_of(static_cast<long long>(number), arguments.extents);
    double sum = 0;
    for (std::int64_t k = 0; k < check.k; ++k)
        sum += device_code::scaled_a(arguments, at.problem, at.row, k) *
               device_code::scaled_b(arguments, at.problem, k, at.column);
    CheckResult found;
    found.expected = device_code::finish(arguments, sum, 0.0, at).value;
    found.got = device_code::element(arguments.d, at);
    return found;
}

std::int64_t HostReference::guard_damage(const GuardedLines& lines, std::uint8_t pattern) const {
    const device_code::GuardArguments arguments = guard_arguments(lines, pattern);
    const std::int64_t guarded = device_code::guard_count(arguments);
    std::vector<std::uint8_t> buffer(static_cast<std::size_t>(guarded + lines.bytes()));
    device_->copy_to_host(buffer.data(), lines.buffer, buffer.size());
    std::int64_t damaged = 0;
    for (std::int64_t i = 0; i < guarded; ++i)
        if (buffer[static_cast<std::size_t>(device_code::guard_place(arguments, i))] != pattern) ++damaged;
    return damaged;
}

std::unique_ptr<Reference> make_reference(ContextState& context) {
    if (context.device->kind() == DeviceKind::emulator) return std::make_unique<HostReference>(context.device);
    return std::make_unique<ReferenceKernels>(context);
}

}  // namespace jitgemm
