#include "runtime/device/launch.hpp"

#include "generator/base/matrix_storage.hpp"
#include "jitgemm/device_pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace jitgemm {
namespace {

// What a launch reads or writes, as bytes in memory: `runs` stretches of `run` bytes, `pitch` bytes apart.
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

// One run of all bytes that the caller gives: a better kernel may use more of them than this one.
Region region_of_workspace(const GemmArguments& arguments) {
    const std::uint64_t address = arguments.workspace.address;
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - address;
    const std::uint64_t bytes = address == 0 ? 0 : std::min<std::uint64_t>(arguments.workspace_bytes, room);
    return {"the workspace", address, bytes, bytes, bytes, static_cast<int>(kWorkspaceAlignment)};
}

// What a launch writes.
struct Written {
    Region d;
    Region workspace;
};

void check_pointer(const Region& operand, std::vector<std::string>& problems) {
    if (operand.address == 0) {
        problems.push_back(fmt::format("{} is null", operand.name));
    } else if ((operand.address & (static_cast<std::uint64_t>(operand.alignment) - 1)) != 0) {
        problems.push_back(fmt::format("{} at {:#x} is less aligned than the {} bytes the spec promises", operand.name,
                                       operand.address, operand.alignment));
    }
}

std::string text_of(const Region& region) {
    return fmt::format("{} [{:#x}, {:#x})", region.name, region.address, region.address + region.bytes);
}

void check_overlap(const Region& d, const Region& input, const char* allowed, std::vector<std::string>& problems) {
    if (d.address == 0 || input.address == 0 || !overlap(d, input)) return;
    problems.push_back(fmt::format("{} overlaps {}{}", text_of(d), text_of(input), allowed));
}

void check_apart(const Region& workspace, const Region& operand, std::vector<std::string>& problems) {
    if (operand.address == 0 || !overlap(workspace, operand)) return;
    problems.push_back(fmt::format("{} overlaps {}; a workspace is memory of its own, apart from all operands",
                                   text_of(workspace), text_of(operand)));
}

void check_input(const Written& written, const Region& input, std::vector<std::string>& problems) {
    check_pointer(input, problems);
    check_overlap(written.d, input, "", problems);
    check_apart(written.workspace, input, problems);
}

void check_c(const GemmSpec& spec, const GemmArguments& arguments, const Written& written,
             std::vector<std::string>& problems) {
    const Region c = region_of_c(spec, arguments);
    check_pointer(c, problems);
    check_apart(written.workspace, c, problems);
    if (broadcasts_c(spec, arguments))
        return check_overlap(written.d, c, ", one row that is added to all of D's", problems);
    if (same_place(spec, c, written.d)) return;
    check_overlap(written.d, c, "; D may only be exactly C, of the same type and leading dimension", problems);
}

// The alignment is checked whether or not this kernel needs a workspace: tuning may bring one that does.
void check_workspace(const GemmArguments& arguments, std::size_t needed, std::vector<std::string>& problems) {
    if (!arguments.workspace) return;  // none given: the context's own is used
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
    check_workspace(arguments, workspace_bytes, problems);
    if (spec.m == 0 || spec.n == 0) return problems;

    const Written written{region("D", ArgumentRole::d, arguments.d, spec), region_of_workspace(arguments)};
    check_pointer(written.d, problems);
    check_apart(written.workspace, written.d, problems);
    if (spec.k != 0 && arguments.alpha != 0.0F) {
        check_input(written, region("A", ArgumentRole::a, arguments.a, spec), problems);
        check_input(written, region("B", ArgumentRole::b, arguments.b, spec), problems);
    }
    if (reads_c && spec.c) check_c(spec, arguments, written, problems);
    return problems;
}

}  // namespace jitgemm
