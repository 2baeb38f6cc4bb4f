// Prepares an operand of a GEMM for all launches that read it. A is the operand: a problem's A, or its B^T.
// The workspace is the memory of the prepared operand.
#include "params.cuh"
#include "gemm_args.cuh"
#include "workspace.cuh"
