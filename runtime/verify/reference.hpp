#pragma once

#include "jitgemm/device_pointer.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/verify/verification_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The matrices of a batch's problems on the device, or the one that all share, by strides in elements. A dimension of
/// one element has the stride 0, so that it serves any number.
struct DeviceMatrix {
    DevicePointer data{};
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 0;
    DataType type = DataType::f32;
    std::int64_t matrices = 1;
    std::int64_t batch_stride = 0;
    std::int64_t inner = 0;  ///< problems that batch_stride steps over; 0: all
    std::int64_t outer_stride = 0;
    std::int64_t first_problem = 0;  ///< of a part: the problems that lie between `data` and its first one

    /// Elements from `data` to the first of a problem's matrix.
    [[nodiscard]] std::int64_t begin_of(std::int64_t problem) const;
    /// From the first element to one past the last; 0 without data.
    [[nodiscard]] std::int64_t extent_bytes() const;
    /// Some of the matrices.
    [[nodiscard]] DeviceMatrix part(std::int64_t first, std::int64_t count) const;
};

/// Elements are numbered problem by problem, and row by row within each, whatever their order in memory.
struct ElementPlace {
    std::int64_t problem = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
};
[[nodiscard]] ElementPlace place_of(const DeviceMatrix& matrix, std::uint64_t number);
[[nodiscard]] std::uint64_t number_of(const DeviceMatrix& matrix, const ElementPlace& at);
/// "D[66, 69]", or "D[2][66, 69]" of a batch.
[[nodiscard]] std::string element_name(std::string_view name, const ElementPlace& at, bool is_batched);

/// The fill of a matrix: one bit pattern; integers in -range .. range without 0; one ±1 in each `group` columns of a
/// row (the last group may have fewer) and zeros elsewhere; or standard normal values (s8: 32 times those, rounded).
enum class FillKind : std::int32_t { constant, integers, sparse, normal };

/// The integers of a fill that have a fraction of 2^-11 beside them, away from 0.
enum class FillFractions : std::int32_t { none, all, even_columns, odd_rows };

struct Fill {
    FillKind kind = FillKind::normal;
    std::uint64_t seed = 0;
    int range = 0;
    std::int64_t group = 1;
    std::uint32_t constant = 0;
    FillFractions fractions = FillFractions::none;
};

/// Factors of A's or B's elements, one for each block of `over` rows of A, or columns of B, and kScaledBlock of K.
struct BlockScales {
    DeviceMatrix elements{};  ///< a column for each block of K; without data: there are none
    int over = 1;             ///< a power of two
    std::int64_t first = 0;   ///< the place of A's first row among the rows that the scales are for
};

/// The input of a check, and the allowed distance between expected and got: the bound, or 0 if `exact`. D says how many
/// problems there are. C has D's extents, with strides of 0 where one element stands for many.
struct Check {
    DeviceMatrix a{}, b{}, c{}, d{};  ///< data is null if the operand is not read
    BlockScales scale_a{}, scale_b{};
    std::int64_t k = 0;  ///< 0 if neither A nor B is read; the other extents are D's
    double alpha = 1;
    double beta = 0;
    ErrorBound bound{};
    bool exact = false;
};

/// A buffer of lines with bands before, between and behind them, in bytes. Groups of lines lie at even distances, and
/// so do blocks of groups.
struct GuardedLines {
    DevicePointer buffer;
    std::int64_t front = 0;
    std::int64_t lines = 0;  ///< of a group
    std::int64_t run = 0;
    std::int64_t pitch = 0;
    std::int64_t groups = 1;
    std::int64_t between = 0;  ///< from the end of a group's last line to the next group
    std::int64_t blocks = 1;
    std::int64_t between_blocks = 0;
    std::int64_t back = 0;

    /// Of all lines.
    [[nodiscard]] std::int64_t bytes() const { return blocks * groups * lines * run; }
};

/// The result of a check, as the kernels write it.
struct CheckResult {
    std::uint64_t wrong = 0;
    std::uint64_t first = ~std::uint64_t{0};  ///< smallest number of a wrong element
    double largest_error = 0;                 ///< over its bound; 0 or infinite if exact
    std::uint64_t guard_damage = 0;
    double expected = 0;
    double got = 0;
};
static_assert(sizeof(CheckResult) == 48);

/// Adds what was found in another part of D.
inline void merge(CheckResult& all, const CheckResult& part) {
    all.wrong += part.wrong;
    all.largest_error = std::max(all.largest_error, part.largest_error);
    if (part.first >= all.first) return;
    all.first = part.first;
    all.expected = part.expected;
    all.got = part.got;
}

/// The sum of products of an element of D, and that of their absolute values.
struct ProductSum {
    double sum = 0;
    double magnitude = 0;
};

/// The operations of a verification on a problem's operands on a device: it makes them and checks them.
class Reference {
public:
    Reference() = default;
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;
    virtual ~Reference() = default;

    virtual void fill(const DeviceMatrix& matrix, const Fill& fill) const = 0;
    /// Counts the elements that differ in any bit from fill().
    [[nodiscard]] virtual CheckResult compare(const DeviceMatrix& matrix, const Fill& fill) const = 0;
    /// The bits of one element: expected is the one of fill(), and got is the one found.
    [[nodiscard]] virtual CheckResult compared_element(const DeviceMatrix& matrix, const Fill& fill,
                                                       std::uint64_t number) const = 0;
    [[nodiscard]] virtual CheckResult check(const Check& check) const = 0;
    /// Expected and found value of one element of D.
    [[nodiscard]] virtual CheckResult element(const Check& check, std::uint64_t number) const = 0;
    /// Of all elements of D, in the order of their numbers, from A and B.
    [[nodiscard]] virtual std::vector<ProductSum> sums(const Check& check) const = 0;
    /// Bytes outside the lines that are not `pattern`.
    [[nodiscard]] virtual std::int64_t guard_damage(const GuardedLines& lines, std::uint8_t pattern) const = 0;
};

/// The reference kernels on a GPU. On the emulator, which would take minutes for them, the same text is compiled by the
/// host's compiler. Both give the same operands (except the last bits of normal numbers) and the same verdicts.
[[nodiscard]] std::unique_ptr<Reference> make_reference(ContextState& context);

}  // namespace jitgemm
