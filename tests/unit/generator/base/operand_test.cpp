#include "generator/base/operand.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "runtime/bench/rotating_operands.hpp"
#include "runtime/c_api/host_rows.hpp"
#include "runtime/device/argument_packer.hpp"
#include "runtime/device/launch.hpp"
#include "runtime/export/export_launcher.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/verify/guarded_problem.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/host_reference_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Arguments of a launch with one operand more.
struct ArgumentsWithBias : GemmArguments {
    DevicePointer bias{};
};

GemmSpec small() { return resolved({.m = 6, .n = 10, .k = 8, .c = DataType::bf16, .ldd = 12}); }

/// All that is said of an operand that nobody else knows: bias[n], f32.
OperandList with_bias(const GemmSpec& spec) {
    OperandList list = gemm_operands(spec);
    list.add(placed({.name = "bias",
                     .title = "the bias",
                     .row = OperandIndex::one,
                     .column = OperandIndex::n,
                     .pointer = static_cast<DevicePointer GemmArguments::*>(&ArgumentsWithBias::bias),
                     .type = DataType::f32},
                    spec));
    return list;
}

std::string names(const OperandList& list) {
    std::string text;
    for (const GemmOperand& operand : list) text += operand.name;
    return text;
}

std::string joined(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

std::byte* host(DevicePointer pointer) { return reinterpret_cast<std::byte*>(pointer.address); }

}  // namespace

TEST_CASE("the operands of a spec are A, B, C where it is read, and D, as they lie in memory") {
    const GemmSpec spec = small();
    const OperandList list = gemm_operands(spec);
    CHECK(names(list) == "abcd");
    CHECK(names(gemm_operands(resolved({.m = 6, .n = 10, .k = 8}))) == "abd");
    const GemmOperand& d = *list.find("d");
    CHECK((d.rows == 6 && d.columns == 10 && d.leading_dimension() == 12 && d.extent() == 5 * 12 + 10));
    CHECK(d.alignment == 8);
    CHECK(list.find("b")->order == Order::column);
    CHECK(list.find("bias") == nullptr);
    const GemmOperand one_row = *gemm_operands(spec, true).find("c");
    CHECK((one_row.rows == 1 && one_row.extent() == 10 && one_row.is_repeated()));
}

TEST_CASE("an operand that is added to the list is checked at each launch") {
    const GemmSpec spec = small();
    const OperandList list = with_bias(spec);
    ArgumentsWithBias arguments;
    arguments.a = 0x10000;
    arguments.b = 0x20000;
    arguments.c = 0x30000;
    arguments.d = 0x40000;
    arguments.beta = 1;
    CHECK(joined(operand_problems(list, problem_of(spec), arguments)) == "the bias is null");
    arguments.bias = 0x50002;
    CHECK_THAT(joined(operand_problems(list, problem_of(spec), arguments)),
               ContainsSubstring("the bias at 0x50002 is less aligned than the 4 bytes"));
    arguments.bias = 0x40010;
    CHECK_THAT(joined(operand_problems(list, problem_of(spec), arguments)), ContainsSubstring("overlaps the bias"));
    arguments.bias = 0x50000;
    CHECK(operand_problems(list, problem_of(spec), arguments).empty());
    arguments.workspace = 0x50020;
    arguments.workspace_bytes = 64;
    CHECK_THAT(joined(operand_problems(list, problem_of(spec), arguments)),
               ContainsSubstring("apart from all operands"));
}

TEST_CASE("an operand that is added to the list is packed: its address, its pitch and its tensor map") {
    FakeDevice device;
    const GemmSpec spec = small();
    const ArgumentRole bias{"bias", ArgumentPart::pointer};
    const std::vector<KernelArgument> arguments{PointerArgument{bias}, TensorMapArgument{bias, {8, 1}},
                                                ExtentArgument{{"bias", ArgumentPart::pitch}, 8}};
    CHECK(argument_layout(arguments).fields[0].name == "bias");
    CHECK(argument_layout(arguments).fields[1].name == "map_bias");
    CHECK(argument_layout(arguments).fields[2].name == "ld_bias");
    struct KernelOperandsWithBias : KernelOperands {
        DevicePointer bias{};
    } given;
    OperandList list = gemm_operands(spec);
    GemmOperand operand = *with_bias(spec).find("bias");
    operand.pointer = static_cast<DevicePointer GemmArguments::*>(&KernelOperandsWithBias::bias);
    list.add(operand);
    given.bias = 0x50000;
    PackedArguments packed;
    ArgumentPacker(arguments, problem_of(spec), list).pack(given, device, packed);
    std::uint64_t address = 0;
    std::memcpy(&address, packed.bytes.data(), sizeof address);
    CHECK(address == 0x50000);
    TiledTensorMap map;
    std::memcpy(&map, packed.bytes.data() + 64, sizeof map);
    CHECK((map.address == 0x50000 && map.extents[0] == 10 && map.extents[1] == 1));
}

TEST_CASE("an operand that is added to the list is filled and guarded by verification") {
    HostReferenceContext context;
    const GemmSpec spec = small();
    const GuardedProblem problem(context.impl, spec, with_bias(spec), InputKind::integers, 3, 1, 1);
    ArgumentsWithBias arguments;
    problem.point(arguments);
    REQUIRE(arguments.bias);
    CHECK(arguments.c.address == problem.request().c.data.address);
    for (std::int64_t i = 0; i < spec.n; ++i) {
        const double value = element_value(host(arguments.bias), DataType::f32, i);
        CHECK((value == std::round(value) && value != 0 && std::fabs(value) <= 8));
    }
    CHECK_THAT(problem.check().message, !ContainsSubstring("the bias"));
    host(arguments.bias)[7] ^= std::byte{0x40};
    host(arguments.bias)[-1] ^= std::byte{1};
    CHECK_THAT(problem.check().message,
               ContainsSubstring("1 elements of the bias were changed, first the bias[0, 1]") &&
                   ContainsSubstring("1 bytes outside the bias"));
    CHECK_THAT(problem.check().message, !ContainsSubstring("the bias"));  // filled anew
}

TEST_CASE("an operand that is added to the list rotates with the others") {
    HostReferenceContext context;
    const GemmSpec spec = small();
    const OperandList list = with_bias(spec);
    const RotatingOperands operands(context.impl, list, 4096, 1, 1, 1);
    REQUIRE(operands.copies() > 1);
    CHECK(rotation_plan(list, 1, 1 << 20).strides.size() == 5);
    ArgumentsWithBias first, second;
    operands.point(first, 0);
    operands.point(second, 1);
    CHECK(second.bias.address - first.bias.address == 256);
    CHECK(std::fabs(element_value(host(second.bias), DataType::f32, 3)) < 7);
}

TEST_CASE("an operand that is added to the list is in the text of an exported launcher") {
    const GemmSpec spec = small();
    const Problem problem = problem_of(spec);
    const KernelConfig config = choose_config(problem, find_gpu("a100"));
    const KernelSource source = generate(problem, config, *find_gpu("a100").arch);
    const LauncherInput input{"gemm", source, problem, workspace_layout(problem, config), with_bias(spec)};
    CHECK_THAT(launcher_header(input), ContainsSubstring("bias (n)") && ContainsSubstring("aligned to 4 bytes"));
    CHECK_THAT(launcher_source(input),
               ContainsSubstring("    CUdeviceptr bias;\n") &&
                   ContainsSubstring("full.bias = address(arguments->bias);") &&
                   ContainsSubstring("if (!is_operand(problem->bias, 1, problem->n, problem->n, 4, 4)) return 0;"));
}

TEST_CASE("an operand that is added to the list has lines of bytes that the host's arrays are copied by") {
    const GemmOperand bias = *with_bias(small()).find("bias");
    const auto all = c_api::rows_of(bias);
    REQUIRE(all.size() == 1);
    const MemoryRows& rows = all[0].rows;
    CHECK((rows.count == 1 && rows.bytes == 40 && c_api::bytes_of(bias) == 40));
}
