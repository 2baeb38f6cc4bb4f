/// GemmSpec::broadcast_c: a C of one row as a problem of its own, which the same kernels compute for less.

#include "generator/base/gemm_signature.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/global_traffic.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

GemmSpec with_row(std::int64_t m, std::int64_t n, std::int64_t k, DataType type = DataType::bf16) {
    return {.m = m, .n = n, .k = k, .a = type, .c = type, .broadcast_c = true};
}

/// The same with all rows of C, and without C.
GemmSpec in_full(GemmSpec spec) {
    spec.broadcast_c = false;
    return spec;
}
GemmSpec without_c(GemmSpec spec) {
    spec.broadcast_c = false;
    spec.c = std::nullopt;
    return spec;
}

GemmSpec by_column(GemmSpec spec) {
    spec.d_order = Order::column;
    return spec;
}

std::string all_problems(const GemmSpec& spec) { return fmt::format("{}", fmt::join(problems(spec), "\n")); }

double predicted_us(const GemmSpec& spec, const KernelConfig& config, const GpuModel& gpu) {
    return family_of(config).cost(problem_of(spec), config, gpu).total_us;
}

double chosen_us(const GemmSpec& spec, const GpuModel& gpu) {
    return predicted_us(spec, choose_config(problem_of(spec), gpu), gpu);
}

}  // namespace

TEST_CASE("a C of one row is a C") {
    CHECK(all_problems(with_row(8, 24, 16)).empty());
    CHECK(all_problems(without_c(with_row(8, 24, 16))).empty());
    CHECK_THAT(all_problems({.m = 8, .n = 24, .k = 16, .broadcast_c = true}),
               StartsWith("broadcast_c is yes, but c is none"));
    CHECK_THROWS_WITH(resolved({.m = 8, .n = 24, .k = 16, .broadcast_c = true}), ContainsSubstring("c is none"));
}

TEST_CASE("the leading dimension of a C of one row counts for nothing, and is 0 once resolved") {
    GemmSpec spec = with_row(8, 24, 16);
    CHECK(resolved(spec).ldc == 0);
    for (const std::int64_t ldc : {24, 25, 4096}) {
        spec.ldc = ldc;
        CHECK(resolved(spec) == resolved(with_row(8, 24, 16)));
    }
    CHECK(resolved(resolved(spec)) == resolved(spec));
    spec.ldc = 23;
    CHECK_THAT(all_problems(spec), StartsWith("ldc is 23: ") && ContainsSubstring("0 or at least its 24 elements"));
    spec.ldc = 8;
    CHECK(all_problems(by_column(spec)).empty());
    spec.ldc = -1;
    CHECK_THAT(all_problems(by_column(spec)), ContainsSubstring("one column"));
}

TEST_CASE("a C of one row is as aligned as its beginning, and is one row long") {
    const GemmSpec spec = resolved(with_row(8, 25, 16));
    CHECK(spec.align_c == 16);
    CHECK(spec.align_d == 2);
    CHECK(operand_extents(spec).c == 25);
    CHECK(operand_extents(resolved(by_column(with_row(8, 25, 16)))).c == 8);
    CHECK(operand_extents(resolved(with_row(0, 25, 16))).c == 0);
    CHECK(with_row_major_d(resolved(by_column(with_row(8, 25, 16)))).broadcast_c);
}

TEST_CASE("a C of one row has the kernel of a C in full, by its name and to the letter, but for wgmma's own") {
    for (const char* gpu : {"a100", "rtx4090"}) {
        for (const GemmSpec& spec :
             {with_row(512, 384, 256), by_column(with_row(300, 77, 129)), with_row(300, 77, 129, DataType::f32)}) {
            const GpuModel& model = find_gpu(gpu);
            const KernelConfig config = choose_config(problem_of(spec), model);
            const KernelSource of_row = generate(problem_of(spec), config, *model.arch);
            const KernelSource of_all = generate(problem_of(in_full(spec)), config, *model.arch);
            CHECK(of_row.name == of_all.name);
            CHECK(of_row.body == of_all.body);
            CHECK_THAT(dump(of_row, problem_of(spec)), ContainsSubstring(" --broadcast-c yes"));
        }
    }
}

TEST_CASE("no kernel takes longer for a row of C than for all of it, and one that DRAM bounds takes less") {
    for (const char* gpu : {"a100", "h200"}) {
        for (const GemmSpec& spec : {with_row(4096, 4096, 64), by_column(with_row(999, 1001, 333)),
                                     with_row(8, 4096, 4096), with_row(500, 300, 700, DataType::f32)}) {
            const GpuModel& model = find_gpu(gpu);
            for (const Candidate& candidate : list_candidates(problem_of(in_full(spec)), model).accepted) {
                INFO(gpu << ' ' << kernel_name(problem_of(spec), candidate.config));
                CHECK(predicted_us(spec, candidate.config, model) <=
                      predicted_us(in_full(spec), candidate.config, model));
            }
        }
    }
    for (const char* gpu : {"a100", "h200", "rtx4090"})
        CHECK(chosen_us(with_row(16384, 16384, 64), find_gpu(gpu)) <
              0.9 * chosen_us(in_full(with_row(16384, 16384, 64)), find_gpu(gpu)));
}

TEST_CASE("traffic counts a row of C once") {
    const GemmSpec of_row = resolved(with_row(512, 384, 256));
    const KernelConfig config = choose_config(problem_of(of_row), find_gpu("a100"));
    const GlobalTraffic row = global_traffic(problem_of(of_row), config),
                        all = global_traffic(problem_of(in_full(of_row)), config);
    CHECK(all.read_bytes - row.read_bytes == 511 * 384 * 2);
    CHECK(all.written_bytes == row.written_bytes);
}

TEST_CASE("with a bias a large problem is predicted about as fast as without") {
    for (const GemmSpec& spec : {with_row(4096, 6144, 2048), with_row(4096, 2048, 8192), with_row(8192, 8192, 8192)})
        for (const char* gpu : {"a100", "h200"}) {
            INFO(gpu << ' ' << shape_line(spec));
            const double plain = chosen_us(without_c(spec), find_gpu(gpu));
            CHECK(chosen_us(spec, find_gpu(gpu)) < 1.08 * plain);
            CHECK(chosen_us(spec, find_gpu(gpu)) > 0.999 * plain);
        }
}
