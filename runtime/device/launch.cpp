#include "runtime/device/launch.hpp"

#include "generator/base/matrix_storage.hpp"
#include "jitgemm/device_pointer.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace jitgemm {
namespace {

// One matrix of a launch as bytes in memory: `runs` stretches of `run` bytes, `pitch` bytes apart.
struct Region {
    const char* name;
    std::uint64_t address;
    std::uint64_t bytes;  ///< from the first to one past the last
    std::uint64_t run;
    std::uint64_t pitch;
    int alignment;
};

Region region(const char* name, ArgumentRole role, DevicePointer pointer, const GemmSpec& spec) {
    const MatrixStorage matrix = storage_of(role, spec);
    const auto element = static_cast<std::uint64_t>(bytes(matrix.type));
    const auto run = static_cast<std::uint64_t>(extent(matrix.run, spec)) * element;
    const auto runs = static_cast<std::uint64_t>(extent(matrix.runs, spec));
    const auto pitch = static_cast<std::uint64_t>(extent(matrix.pitch, spec)) * element;
    return {name, pointer.address, runs == 0 || run == 0 ? 0 : (runs - 1) * pitch + run, run, pitch, matrix.alignment};
}

// Of equal pitch, two matrices may interleave without touching: slices of columns of one larger matrix.
bool interleave(const Region& x, const Region& y) {
    if (x.pitch != y.pitch) return false;
    const Region& low = x.address <= y.address ? x : y;
    const Region& high = x.address <= y.address ? y : x;
    const std::uint64_t offset = (high.address - low.address) % low.pitch;
    return offset >= low.run && offset + high.run <= low.pitch;
}

bool overlap(const Region& x, const Region& y) {
    const bool apart = x.address + x.bytes <= y.address || y.address + y.bytes <= x.address;
    return !apart && x.bytes != 0 && y.bytes != 0 && !interleave(x, y);
}

bool same_place(const GemmSpec& spec, const Region& c, const Region& d) {
    return c.address == d.address && *spec.c == spec.d && spec.ldc == spec.ldd;
}

Region region_of_c(const GemmSpec& spec, const GemmArguments& arguments) {
    Region c = region("C", ArgumentRole::c, arguments.c, spec);
    if (!broadcasts_c(spec, arguments)) return c;
    c.pitch = 0;
    c.bytes = c.run;
    return c;
}

void check_pointer(const Region& operand, std::vector<std::string>& problems) {
    if (operand.address == 0) {
        problems.push_back(fmt::format("{} is null", operand.name));
    } else if ((operand.address & (static_cast<std::uint64_t>(operand.alignment) - 1)) != 0) {
        problems.push_back(fmt::format("{} at {:#x} is less aligned than the {} bytes the spec promises", operand.name,
                                       operand.address, operand.alignment));
    }
}

void check_overlap(const Region& d, const Region& input, const char* allowed, std::vector<std::string>& problems) {
    if (d.address == 0 || input.address == 0 || !overlap(d, input)) return;
    problems.push_back(fmt::format("D [{:#x}, {:#x}) overlaps {} [{:#x}, {:#x}){}", d.address, d.address + d.bytes,
                                   input.name, input.address, input.address + input.bytes, allowed));
}

void check_input(const Region& d, const Region& input, std::vector<std::string>& problems) {
    check_pointer(input, problems);
    check_overlap(d, input, "", problems);
}

void check_c(const GemmSpec& spec, const GemmArguments& arguments, const Region& d,
             std::vector<std::string>& problems) {
    const Region c = region_of_c(spec, arguments);
    check_pointer(c, problems);
    if (broadcasts_c(spec, arguments)) return check_overlap(d, c, ", one row that is added to all of D's", problems);
    if (same_place(spec, c, d)) return;
    check_overlap(d, c, "; D may only be exactly C, of the same type and leading dimension", problems);
}

void check_workspace(const GemmArguments& arguments, std::size_t needed, std::vector<std::string>& problems) {
    if (!arguments.workspace || needed == 0) return;  // none given: the context's own is used
    if (arguments.workspace_bytes < needed) {
        problems.push_back(
            fmt::format("the workspace holds {} bytes, the kernel needs {}", arguments.workspace_bytes, needed));
    }
    if (arguments.workspace.address % kWorkspaceAlignment != 0) {
        problems.push_back(fmt::format("the workspace at {:#x} is not aligned to {} bytes", arguments.workspace.address,
                                       kWorkspaceAlignment));
    }
}

}  // namespace

std::vector<std::string> launch_problems(const GemmSpec& spec, const GemmArguments& arguments,
                                         std::size_t workspace_bytes) {
    std::vector<std::string> problems;
    const bool reads_c = arguments.beta != 0.0F;
    if (reads_c && !spec.c) problems.push_back(fmt::format("beta is {} but the spec has no C", arguments.beta));
    if (arguments.broadcast_c && !spec.c) problems.emplace_back("broadcast_c is set but the spec has no C");
    if (spec.m == 0 || spec.n == 0) return problems;

    const Region d = region("D", ArgumentRole::d, arguments.d, spec);
    check_pointer(d, problems);
    if (spec.k != 0 && arguments.alpha != 0.0F) {
        check_input(d, region("A", ArgumentRole::a, arguments.a, spec), problems);
        check_input(d, region("B", ArgumentRole::b, arguments.b, spec), problems);
    }
    if (reads_c && spec.c) check_c(spec, arguments, d, problems);
    check_workspace(arguments, workspace_bytes, problems);
    return problems;
}

}  // namespace jitgemm
