/// deterministic=batch_invariant on the emulator: equal rows have equal bits whatever m is and whatever the other rows
/// hold.

#include "generator/families/family.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/batch_rows.hpp"
#include "tests/support/one_in.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec invariant(GemmSpec spec) {
    spec.deterministic = Determinism::batch_invariant;
    return spec;
}

GemmSpec with_c(GemmSpec spec, DataType type) {
    spec.c = spec.d = type;
    return spec;
}

}  // namespace

TEST_CASE("batch-invariant: a row's bits are the same for every m and beside rows of NaN") {
    GemmSpec by_columns = spec_of(GemmLayout::tn, 0, 24, 136);
    by_columns.d_order = Order::column;
    // Rows of D^T, whose pitch and alignment are another with each m: stores by TMA and by row.
    const GemmSpec by_columns_with_c = with_c(by_columns, DataType::bf16);
    for (const GemmSpec& spec :
         {spec_of(GemmLayout::tn, 0, 40, 264), with_c(spec_of(GemmLayout::nn, 0, 19, 133), DataType::f32),
          spec_of(GemmLayout::nt, 0, 16, 72, DataType::f16), by_columns, by_columns_with_c,
          spec_of(GemmLayout::tt, 0, 17, 65, DataType::f32)}) {
        INFO(shape_line(spec));
        CHECK(check_batch_invariance(on_hopper(), invariant(spec)) > 1);
        CHECK(check_batch_invariance(on_emulator(), invariant(spec)) > 1);
    }
}

TEST_CASE("batch-invariant: each problem of a batch has a single problem's bits for every m") {
    const auto rows = [](Context& context, const GemmSpec& spec) {
        return rows_of_d(context, context.kernel(spec), spec.m, OtherRows::usual);
    };
    for (Context* const context : {&on_hopper(), &on_emulator()})
        for (const DataType type : {DataType::bf16, DataType::f32}) {
            GemmSpec spec = invariant(spec_of(GemmLayout::tn, 160, 40, 2056, type));  // a K that is split otherwise
            const std::vector<std::byte> all = rows(*context, spec);
            spec.batch_stride_a = spec.batch_stride_b = 0;
            for (const std::int64_t m : {1, 33, 150}) {
                INFO(shape_line(spec) << ", m = " << m);
                spec.m = m;
                spec.batch = 3;
                const std::vector<std::byte> of_batch = rows(*context, spec);
                const std::ptrdiff_t one = m * spec.n * bytes(spec.d);
                REQUIRE(of_batch.size() == static_cast<std::size_t>(3 * one));
                for (std::ptrdiff_t problem = 0; problem < 3; ++problem)
                    CHECK(std::equal(all.begin(), all.begin() + one, of_batch.begin() + problem * one));
            }
        }
}

// The choice may be any of these: what is tuned chooses among them, too.
TEST_CASE("batch-invariant: all kernels that may be chosen leave the same bits") {
    constexpr std::size_t kTried = 24;
    OneIn tried(3);
    for (Context* const context : {&on_hopper(), &on_emulator()})
        for (const DataType type : {DataType::bf16, DataType::f32}) {
            const GemmSpec spec = invariant(with_c(spec_of(GemmLayout::tn, 150, 200, 260, type), DataType::f32));
            const CandidateList list = list_candidates(problem_of(spec), state_of(*context).device->model());
            REQUIRE(list.accepted.size() > kTried);
            std::vector<std::byte> first;
            for (std::size_t i = 0; i < kTried; ++i) {
                if (!tried.next()) continue;
                const KernelConfig& config = list.accepted[i * (list.accepted.size() - 1) / (kTried - 1)].config;
                const GemmKernel kernel = state_of(*context).build(problem_of(spec), config);
                INFO(kernel.info().name);
                const std::vector<std::byte> rows = rows_of_d(*context, kernel, spec.m, OtherRows::usual);
                if (first.empty()) first = rows;
                CHECK(rows == first);
            }
        }
}

TEST_CASE("batch-invariant: a kernel of any family leaves these bits, or is refused") {
    const GemmSpec spec = invariant(spec_of(GemmLayout::tn, 33, 40, 260, DataType::f32));
    const GpuModel& gpu = state_of(on_emulator()).device->model();
    const auto rows = [&](const KernelConfig& config) {
        const GemmKernel kernel = state_of(on_emulator()).build(problem_of(spec), config);
        return rows_of_d(on_emulator(), kernel, spec.m, OtherRows::usual);
    };
    const std::vector<std::byte> usual = rows(choose_config(problem_of(spec), gpu));
    std::size_t served = 0;
    for (const Family& family : family_table()) {
        INFO(family.name);
        const CandidateList list = list_candidates(
            problem_of(spec), gpu, {.kernel = {}, .family = std::string(family.name), .parameters = {}});
        if (list.accepted.empty()) continue;
        ++served;
        CHECK(rows(list.accepted.front().config) == usual);
        CHECK(rows(list.accepted.back().config) == usual);
    }
    CHECK(served > 1);
}

TEST_CASE("batch-invariant: without it a long K and few rows leave other bits") {
    const GemmSpec spec = spec_of(GemmLayout::tn, 8, 64, 8192);
    const auto rows = [&](const GemmSpec& asked) {
        return rows_of_d(on_hopper(), on_hopper().kernel(asked), asked.m, OtherRows::usual);
    };
    CHECK(rows(invariant(spec)) != rows(spec));
}
