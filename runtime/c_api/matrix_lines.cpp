#include "runtime/c_api/matrix_lines.hpp"

namespace jitgemm::c_api {

MatrixLines lines_of(const GemmOperand& operand) {
    const int element = bytes(operand.type);
    return {operand.lines(), operand.run() * element, operand.leading_dimension() * element};
}

}  // namespace jitgemm::c_api
