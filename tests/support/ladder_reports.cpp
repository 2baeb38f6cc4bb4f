#include "tests/support/ladder_reports.hpp"

namespace jitgemm::testing {
namespace {

using namespace cli;

RungReport rung(std::string_view name, RungStatus status, std::string reason) {
    RungReport report;
    report.rung.name = name;
    report.rung.sentence = "What changed & why <it> is faster.";
    report.status = status;
    report.reason = std::move(reason);
    return report;
}

RungKernel kernel(std::string name, std::string body, MathUnit unit, double global_bytes) {
    RungKernel made_up;
    made_up.name = std::move(name);
    made_up.body = std::move(body);
    made_up.unit = unit;
    made_up.global_bytes = global_bytes;
    made_up.registers = 40;
    made_up.threads = 256;
    made_up.blocks = 512;
    return made_up;
}

RungReport cpu() {
    RungReport report = rung("cpu loop", RungStatus::ok, "It computed 1 of 4 elements: extrapolated.");
    report.rung.kind = RungKind::cpu;
    report.time = RungTime{137438953.472, 137438953.472, 137438953.472, 1, "loop", true};
    return report;
}

RungReport naive() {
    RungReport report = rung("naive", RungStatus::ok, "");
    report.rung.family = "simt_naive";
    report.command = "jitgemm dump --family simt_naive";
    report.kernel =
        kernel("simt_naive_block32x32", "int x = 1;\nif (a < b && c > d) e();\n", MathUnit::fp32_cores, 137438953472.0);
    report.time = RungTime{27487.790694, 27000, 28000, 15, "steady", false};
    report.peer_us = 274.87790694;
    return report;
}

RungReport wmma() {
    RungReport report = rung("wmma", RungStatus::ok, "");
    report.kernel = kernel("wmma_multistage_default", "int x = 2;\nif (a < b && c > d) e();\nint y;\n",
                           MathUnit::tensor_cores, 2147483648.0);
    report.kernel->conflicts = 1.5;
    report.time = RungTime{343.597383680, 340, 350, 15, "steady", false};
    report.peer_us = 274.877906944;
    return report;
}

LadderReport without_rungs() {
    LadderReport report;
    report.spec = gemm_spec_of_type(DataType::f16);
    report.spec.m = report.spec.n = report.spec.k = 4096;
    report.spec.layout = GemmLayout::tt;
    report.spec = resolved(report.spec);
    report.device = "NVIDIA <H200>";
    report.gpu = find_gpu("h200");
    return report;
}

}  // namespace

LadderReport made_up_ladder() {
    LadderReport report = without_rungs();
    report.peer = {"algorithm 7", 274.877906944, ""};
    report.rungs = {cpu(), naive(), rung("all of K", RungStatus::refused, "the panels take 655360 bytes\nand more"),
                    wmma()};
    RungReport fastest = report.rungs.back();
    fastest.rung.name = "fastest";
    fastest.same_as = 3;
    report.rungs.push_back(fastest);
    return report;
}

LadderReport made_up_counts() {
    LadderReport report = made_up_ladder();
    report.emulated = true;
    report.peer = {};
    for (RungReport& each : report.rungs) {
        if (!each.kernel) continue;
        each.time.reset();
        each.peer_us.reset();
        each.counts = RungCounts{1000, 200, each.kernel->conflicts ? 30U : 0U, 20, 33554432};
        each.kernel->registers = 0;
    }
    return report;
}

}  // namespace jitgemm::testing
