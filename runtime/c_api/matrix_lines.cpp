#include "runtime/c_api/matrix_lines.hpp"

#include "generator/base/matrix_storage.hpp"
#include "runtime/device/launch.hpp"

#include <algorithm>

namespace jitgemm::c_api {
namespace {

std::int64_t batch_stride(ArgumentRole role, const GemmSpec& resolved_spec) {
    switch (role) {
        case ArgumentRole::a: return resolved_spec.batch_stride_a.value_or(0);
        case ArgumentRole::b: return resolved_spec.batch_stride_b.value_or(0);
        case ArgumentRole::c: return resolved_spec.batch_stride_c.value_or(0);
        default: return resolved_spec.batch_stride_d.value_or(0);
    }
}

}  // namespace

MatrixLines lines_of(ArgumentRole role, const GemmSpec& spec, const GemmArguments& arguments) {
    const MatrixStorage matrix = storage_of(role, spec);
    const int element = bytes(matrix.type);
    MatrixLines lines{extent(matrix.runs, spec), extent(matrix.run, spec) * element,
                      extent(matrix.pitch, spec) * element, spec.batch, batch_stride(role, spec) * element};
    if (role == ArgumentRole::c && broadcasts_c(spec, arguments)) lines.count = std::min<std::int64_t>(lines.count, 1);
    return lines;
}

}  // namespace jitgemm::c_api
