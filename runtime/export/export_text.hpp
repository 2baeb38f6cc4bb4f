#pragma once

/// \file The C text of an exported kernel's launcher. @KEYS@ are replaced by launcher_header() and launcher_source().

#include <string_view>

namespace jitgemm::export_text {

inline constexpr std::string_view kHeader = R"(/* @NAME@: @FORMULA@.
 *
@OPERANDS@ *
 * Kernel @KERNEL@,
 * a cubin for @ARCH@. @SHAPES@
 * C99, C11 or C++. Needs cuda.h to build and libcuda (the driver) to run, nothing else. The calling thread must have a
 * current context.
 *
 *     @NAME@_kernel kernel;
 *     jg_arguments arguments = JG_ARGUMENTS_INIT;
 *     @NAME@_load(&kernel, "@CUBIN@.cubin");
 *     arguments.a = a; arguments.b = b; arguments.d = d;
 *     @NAME@_launch(&kernel, &arguments, stream);
 *     @NAME@_unload(&kernel);
 */
#ifndef @GUARD@
#define @GUARD@

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    CUmodule module;
    CUfunction functions[@FUNCTIONS@];
} @NAME@_kernel;

/* Loads the cubin from a file, or from memory. */
CUresult @NAME@_load(@NAME@_kernel *kernel, const char *cubin_path);
CUresult @NAME@_load_image(@NAME@_kernel *kernel, const void *cubin);

/* Operands of a launch, as jitgemm.h has them: either header may come first. */
@ARGUMENTS@
/* Enqueues the problem that the kernel was exported for on a CUstream or cudaStream_t. A graph may capture the launch.
 * Returns CUDA_ERROR_INVALID_VALUE and enqueues nothing if a pointer is null or less aligned than above, if beta is
 * not 0 and there is no C, or if `arguments` has another size.@WORKSPACE@ */
CUresult @NAME@_launch(const @NAME@_kernel *kernel, const jg_arguments *arguments, void *stream);

/* Other sizes and pitches: begin with those it was exported for. */
typedef struct {
@FIELDS@} @NAME@_problem;
@NAME@_problem @NAME@_exported_problem(void);

/* As above. Returns CUDA_ERROR_INVALID_VALUE also if an extent is out of range, or if a leading dimension is too small.
 * The leading dimension of a matrix with more than one row (column) must be aligned as above. */
CUresult @NAME@_launch_problem(const @NAME@_kernel *kernel, const @NAME@_problem *problem,
                               const jg_arguments *arguments, void *stream);

CUresult @NAME@_unload(@NAME@_kernel *kernel);

#ifdef __cplusplus
}
#endif

#endif
)";

/// Word for word what include/jitgemm/jitgemm.h has.
inline constexpr std::string_view kArguments = R"(#ifndef JG_ARGUMENTS_INIT
/* An operand of the problem's epilogue, or an output beside D. The struct never grows, because they stand in an
 * array. */
typedef struct jg_operand {
    const char *name;    /* as the epilogue's text has it; it must live until the launch returns */
    const void *pointer; /* device address; NULL of a scalar of the launch */
    float value;         /* of a scalar of the launch; else ignored */
} jg_operand;
typedef struct jg_arguments {
    size_t size;   /* sizeof(jg_arguments) */
    const void *a; /* A and B are not read if alpha or k is 0. With pointers: an array of addresses, as b, c and d */
    const void *b;
    const void *c; /* not read if beta is 0 */
    void *d;       /* equal to c, or no overlap with any input */
    float alpha;
    float beta;      /* 0 unless the problem has a C */
    void *workspace; /* aligned to 16 bytes, no overlap with operands; NULL: the context's own for the stream */
    size_t workspace_bytes;
    int64_t dependent_launch; /* start before the previous kernel has ended? 0: if generated for it, 1: no, 2: yes */
    int64_t broadcast_c;      /* 1: treat C as a bias, one row added to every row of D (d_layout n: one column) */
    const jg_operand *operands; /* each that the epilogue's text names, except alpha and beta, in any order */
    size_t operand_count;       /* at most 16 */
    const int32_t *offsets;     /* of a problem with groups, on the device: where each ends, or its number of rows */
    const int32_t *row_index;   /* of a problem with source_rows, on the device: a row of A for each row of D, or -1 */
} jg_arguments;
#define JG_ARGUMENTS_INIT \
    {sizeof(jg_arguments), NULL, NULL, NULL, NULL, 1.0f, 0.0f, NULL, 0, 0, 0, NULL, 0, NULL, NULL} /* alpha 1 */
#endif
)";

inline constexpr std::string_view kSource = R"(/* Launcher of an exported kernel: see @NAME@.h. */
#include "@NAME@.h"

#include <string.h>

@NAME@_problem @NAME@_exported_problem(void) {
    @NAME@_problem problem;
    memset(&problem, 0, sizeof(problem));
@EXPORTED_PROBLEM@    return problem;
}

/* ---- loading */

static CUresult get_function(@NAME@_kernel *kernel, int index, const char *name, int shared_bytes, int large_cluster) {
    CUresult result = cuModuleGetFunction(&kernel->functions[index], kernel->module, name);
    if (result == CUDA_SUCCESS && shared_bytes > 48 * 1024) {
        result = cuFuncSetAttribute(kernel->functions[index], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    shared_bytes);
    }
    /* Not every GPU has room for clusters of more than eight blocks. */
    if (result == CUDA_SUCCESS && large_cluster) {
        result = cuFuncSetAttribute(kernel->functions[index], CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    }
    /* The driver loads code lazily: asking for a fact of it does so now, and the first launch may be a captured one. */
    if (result == CUDA_SUCCESS) {
        int registers = 0;
        result = cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel->functions[index]);
    }
    return result;
}

static CUresult get_functions(@NAME@_kernel *kernel) {
    CUresult result = CUDA_SUCCESS;
@GET_FUNCTIONS@    if (result != CUDA_SUCCESS) @NAME@_unload(kernel);
    return result;
}

CUresult @NAME@_load(@NAME@_kernel *kernel, const char *cubin_path) {
    CUresult result = cuModuleLoad(&kernel->module, cubin_path);
    return result == CUDA_SUCCESS ? get_functions(kernel) : result;
}

CUresult @NAME@_load_image(@NAME@_kernel *kernel, const void *cubin) {
    CUresult result = cuModuleLoadData(&kernel->module, cubin);
    return result == CUDA_SUCCESS ? get_functions(kernel) : result;
}

CUresult @NAME@_unload(@NAME@_kernel *kernel) {
    return cuModuleUnload(kernel->module);
}

/* ---- launching */

/* A problem and its operands. */
typedef struct {
@FULL_FIELDS@} full_problem;

static int64_t tiles(int64_t extent, int64_t tile) {
    return (extent + tile - 1) / tile;
}
@HELPERS@
/* Whether `lines` rows (or columns) of `run` elements, `pitch` apart, all begin at multiples of `alignment` bytes. */
static int is_operand(CUdeviceptr pointer, int64_t lines, int64_t run, int64_t pitch, int element_bytes,
                      int alignment) {
    return pointer != 0 && pointer % (unsigned)alignment == 0 && pitch >= run &&
           (lines == 1 || pitch % alignment * element_bytes % alignment == 0);
}

@IS_STRIDE@static int is_sound(const full_problem *problem) {
@CHECKS@    return 1;
}
@ENTRIES@
static CUresult launch(const @NAME@_kernel *kernel, const full_problem *problem, CUstream stream) {
    CUresult result = CUDA_SUCCESS;
    if (problem->m < 0 || problem->n < 0 || problem->k < 0@IS_NEGATIVE@) return CUDA_ERROR_INVALID_VALUE;
    if (problem->m == 0 || problem->n == 0@IS_EMPTY@) return CUDA_SUCCESS;
    if (!is_sound(problem)) return CUDA_ERROR_INVALID_VALUE;
@LAUNCHES@    return result;
}

/* An older jitgemm.h has a shorter struct, without the last fields. A newer one has a longer struct: its other fields
   must be zero. */
static int has_dependent_launch(const jg_arguments *arguments) {
    return arguments->size > offsetof(jg_arguments, dependent_launch);
}

static int has_broadcast_c(const jg_arguments *arguments) {
    return arguments->size > offsetof(jg_arguments, broadcast_c);
}

static int has_operands(const jg_arguments *arguments) {
    return arguments->size > offsetof(jg_arguments, operands);
}

@HAS_MEMBERS@static int is_known(const jg_arguments *arguments) {
    const unsigned char *bytes = (const unsigned char *)arguments;
    size_t i;
    if (arguments == NULL || arguments->size > 4096) return 0;
    if (arguments->size < sizeof(*arguments) && arguments->size != offsetof(jg_arguments, dependent_launch) &&
        arguments->size != offsetof(jg_arguments, broadcast_c) && arguments->size != offsetof(jg_arguments, operands) &&
        arguments->size != offsetof(jg_arguments, offsets) && arguments->size != offsetof(jg_arguments, row_index))
        return 0;
    if (has_dependent_launch(arguments) &&
        (arguments->dependent_launch < 0 || arguments->dependent_launch > @MOST_DEPENDENT@))
        return 0;
    if (has_broadcast_c(arguments) &&
        (arguments->broadcast_c < 0 || arguments->broadcast_c > @MOST_BROADCAST_C@))
        return 0;
    if (has_operands(arguments) && arguments->operand_count > @MOST_OPERANDS@) return 0;
    for (i = sizeof(*arguments); i < arguments->size; ++i)
        if (bytes[i] != 0) return 0;
    return 1;
}

static CUdeviceptr address(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}

@LOOKUP@CUresult @NAME@_launch_problem(const @NAME@_kernel *kernel, const @NAME@_problem *problem,
                               const jg_arguments *arguments, void *stream) {
    full_problem full;@GIVEN@
    if (!is_known(arguments)) return CUDA_ERROR_INVALID_VALUE;
    memset(&full, 0, sizeof(full));
@FULL_PROBLEM@    return launch(kernel, &full, (CUstream)stream);
}

CUresult @NAME@_launch(const @NAME@_kernel *kernel, const jg_arguments *arguments, void *stream) {
    const @NAME@_problem problem = @NAME@_exported_problem();
    return @NAME@_launch_problem(kernel, &problem, arguments, stream);
}
)";

inline constexpr std::string_view kIsStride =
    R"(/* Whether the matrices of all problems are aligned as the first one. No two problems write one matrix. */
static int is_stride(int64_t problems, int64_t stride, int element_bytes, int alignment, int is_written) {
    return problems <= 1 || (stride >= is_written && stride % alignment * element_bytes % alignment == 0);
}

)";

/// Of a member that headers before groups lack.
inline constexpr std::string_view kHasMember = R"(static int has_@MEMBER@(const jg_arguments *arguments) {
    return arguments->size > offsetof(jg_arguments, @MEMBER@);
}

)";

inline constexpr std::string_view kFindOperand = R"(/* What a launch gives under a name of the text, or NULL. */
static const jg_operand *find_operand(const jg_arguments *arguments, const char *name, size_t *given) {
    size_t i;
    if (!has_operands(arguments) || arguments->operands == NULL) return NULL;
    for (i = 0; i < arguments->operand_count; ++i) {
        const jg_operand *operand = &arguments->operands[i];
        if (operand->name == NULL || strcmp(operand->name, name) != 0) continue;
        *given += 1;
        return operand;
    }
    return NULL;
}

)";

inline constexpr std::string_view kAddressOf =
    R"(static CUdeviceptr address_of(const jg_arguments *arguments, const char *name, size_t *given) {
    const jg_operand *operand = find_operand(arguments, name, given);
    return operand == NULL ? 0 : address(operand->pointer);
}

)";

inline constexpr std::string_view kGetValue =
    R"(static int get_value(const jg_arguments *arguments, const char *name, float *value, size_t *given) {
    const jg_operand *operand = find_operand(arguments, name, given);
    if (operand == NULL || operand->pointer != NULL) return 0;
    *value = operand->value;
    return 1;
}

)";

inline constexpr std::string_view kEntry = R"(
static CUresult launch_@FUNCTION@(CUfunction function, const full_problem *problem, CUstream stream) {
@RESULT@    const int64_t blocks = @BLOCKS@;
    struct {
@ARGUMENT_FIELDS@    } arguments;
    void *parameters[1];
    if (blocks == 0) return CUDA_SUCCESS; /* packing an operand without elements */
    if (blocks > INT32_MAX) return CUDA_ERROR_INVALID_VALUE;
    memset(&arguments, 0, sizeof(arguments));
@ASSIGNMENTS@    parameters[0] = &arguments;
@CALL@}
)";

inline constexpr std::string_view kLeast = R"(
static int64_t least(int64_t x, int64_t y) {
    return x < y ? x : y;
}
)";

inline constexpr std::string_view kGreatest = R"(
static int64_t greatest(int64_t x, int64_t y) {
    return x > y ? x : y;
}
)";

inline constexpr std::string_view kSmCount = R"(
/* SMs of the current context's GPU that clusters of `cluster` blocks reach. Clusters of more than two don't reach all.
   0 without a GPU: the launch then reports the error. */
static int64_t sm_count(int cluster) {
    CUdevice device = 0;
    int count = 0;
    if (cuCtxGetDevice(&device) == CUDA_SUCCESS)
        cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    return cluster > 2 ? count * 10 / 11 : count;
}
)";

/// It needs kSmCount.
inline constexpr std::string_view kSpread = R"(
/* Dynamic shared memory of a block that uses `used` bytes and may begin early. With more of it, an SM holds its share
   of the blocks, up to `most`, and no more. Else blocks would gather on the SMs that are free. */
static unsigned spread(int64_t blocks, int cluster, int most, int64_t used) {
    enum { of_sm = @SM_BYTES@, reserved = @RESERVED@ }; /* the driver takes `reserved` bytes for each block */
    const int64_t sms = sm_count(cluster) / cluster * cluster;
    int64_t bytes;
    if (blocks <= 0 || blocks > most * sms) return (unsigned)used;
    bytes = of_sm / (tiles(blocks, sms) + 1) + 1 - reserved;
    return (unsigned)(bytes > used ? bytes : used);
}
)";

inline constexpr std::string_view kPlainCall =
    R"(    return cuLaunchKernel(function, (unsigned)blocks, @GRID_Y@, @GRID_Z@, @THREADS@, 1, 1, @SHARED_BYTES@,
                          stream, parameters, NULL);
)";

inline constexpr std::string_view kCallWithAttributes = R"(    CUlaunchAttribute attributes[2];
    CUlaunchConfig config;
    memset(attributes, 0, sizeof(attributes));
    memset(&config, 0, sizeof(config));
    config.attrs = attributes;
@ATTRIBUTES@    config.gridDimX = (unsigned)blocks;
    config.gridDimY = @GRID_Y@;
    config.gridDimZ = @GRID_Z@;
    config.blockDimX = @THREADS@;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = @SHARED_BYTES@;
    config.hStream = stream;
    return cuLaunchKernelEx(&config, function, parameters, NULL);
)";

}  // namespace jitgemm::export_text
