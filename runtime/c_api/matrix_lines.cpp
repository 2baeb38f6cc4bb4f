#include "runtime/c_api/matrix_lines.hpp"

#include "generator/base/matrix_storage.hpp"
#include "runtime/device/launch.hpp"

#include <algorithm>

namespace jitgemm::c_api {
MatrixLines lines_of(ArgumentRole role, const GemmSpec& spec, const GemmArguments& arguments) {
    const MatrixStorage matrix = storage_of(role, spec);
    const int element = bytes(matrix.type);
    MatrixLines lines{extent(matrix.runs, spec), extent(matrix.run, spec) * element,
                      extent(matrix.pitch, spec) * element};
    if (role == ArgumentRole::c && broadcasts_c(spec, arguments)) lines.count = std::min<std::int64_t>(lines.count, 1);
    return lines;
}

}  // namespace jitgemm::c_api
