#pragma once

/// \file The C text of an exported set's dispatcher. @KEYS@ are replaced by dispatcher_header() and
/// dispatcher_source().

#include <string_view>

namespace jitgemm::export_text {

inline constexpr std::string_view kDispatcherHeader =
    R"(/* @NAME@: @FORMULA@
 * for each m from @FIRST_M@ to @LAST_M@, n = @N@, k = @K@.
 *
 *     @SPEC@
 *
 * @KERNELS@ kernels, cubins for @ARCH@. The dispatcher picks one by m. The header of a kernel describes the operands
 * and their alignments.
 * C99, C11 or C++. Needs cuda.h to build and libcuda (the driver) to run, nothing else. Compile @NAME@.c and
 * every @NAME@_NUMBER.c. The calling thread must have a current context.
 *
 *     @NAME@_kernels kernels;
 *     jg_arguments arguments = JG_ARGUMENTS_INIT;
 *     @NAME@_load(&kernels, "folder of the cubins");
 *     arguments.a = a; arguments.b = b; arguments.d = d;
 *     @NAME@_launch(&kernels, m, &arguments, stream);
 *     @NAME@_unload(&kernels);
 */
#ifndef @GUARD@
#define @GUARD@

@INCLUDES@
#ifdef __cplusplus
extern "C" {
#endif

/* The largest workspace that a kernel needs, in bytes. The kernels have none of their own. */
#define @UPPER@_WORKSPACE_BYTES @WORKSPACE_BYTES@

typedef struct {
@KERNEL_FIELDS@} @NAME@_kernels;

/* Loads all kernels. After an error, none is loaded. */
CUresult @NAME@_load(@NAME@_kernels *kernels, const char *folder);

/* The number of the kernel that serves m, and -1 for an m outside. */
int @NAME@_kernel_of(int64_t m);
extern const char *const @NAME@_kernel_names[@KERNELS@];

/* Enqueues the problem with m rows on a CUstream or cudaStream_t. A graph may capture the launch. Returns
 * CUDA_ERROR_INVALID_VALUE and enqueues nothing for an m outside, if a pointer is null or less aligned than the
 * kernel's header says, if the workspace is too small, if beta is not 0 and there is no C, or if `arguments` has
 * another size. */
CUresult @NAME@_launch(const @NAME@_kernels *kernels, int64_t m, const jg_arguments *arguments, void *stream);

CUresult @NAME@_unload(@NAME@_kernels *kernels);

#ifdef __cplusplus
}
#endif

#endif
)";

inline constexpr std::string_view kDispatcherSource = R"(/* Dispatcher of an exported kernel set: see @NAME@.h. */
#include "@NAME@.h"

#include <stdio.h>
#include <string.h>

const char *const @NAME@_kernel_names[@KERNELS@] = {
@NAMES@};

/* ---- which kernel serves m */

/* An m belongs to the first class whose multiple divides it. */
static const struct {
    int64_t multiple;
    int first_range;
    int end_range;
} classes[] = {
@CLASSES@};

static const struct {
    int64_t first_m;
    int64_t last_m;
    int kernel;
} ranges[] = {
@RANGES@};

int @NAME@_kernel_of(int64_t m) {
    const int class_count = (int)(sizeof(classes) / sizeof(classes[0]));
    int of_m = 0;
    int low, end;
    if (m < @FIRST_M@ || m > @LAST_M@) return -1;
    while (of_m < class_count && m % classes[of_m].multiple != 0) ++of_m;
    if (of_m == class_count) return -1;
    low = classes[of_m].first_range;
    end = classes[of_m].end_range;
    while (low < end) {
        const int middle = low + (end - low) / 2;
        if (ranges[middle].last_m < m)
            low = middle + 1;
        else
            end = middle;
    }
    return low < classes[of_m].end_range && ranges[low].first_m <= m ? ranges[low].kernel : -1;
}

/* ---- loading */

static int write_path(char *path, size_t size, const char *folder, const char *file) {
    const int length = snprintf(path, size, "%s/%s", folder, file);
    return length >= 0 && (size_t)length < size;
}

static CUresult load_all(@NAME@_kernels *kernels, const char *folder, int *loaded) {
    char path[4096];
    CUresult result;
@LOADS@    return CUDA_SUCCESS;
}

/* The first `loaded` of them. */
static CUresult unload(@NAME@_kernels *kernels, int loaded) {
    CUresult result = CUDA_SUCCESS;
    CUresult one;
@UNLOADS@    return result;
}

CUresult @NAME@_load(@NAME@_kernels *kernels, const char *folder) {
    int loaded = 0;
    CUresult result;
    memset(kernels, 0, sizeof(*kernels));
    result = load_all(kernels, folder, &loaded);
    if (result != CUDA_SUCCESS) unload(kernels, loaded);
    return result;
}

CUresult @NAME@_unload(@NAME@_kernels *kernels) {
    return unload(kernels, @KERNELS@);
}

/* ---- launching */
@LAUNCH_FUNCTIONS@
CUresult @NAME@_launch(const @NAME@_kernels *kernels, int64_t m, const jg_arguments *arguments, void *stream) {
    switch (@NAME@_kernel_of(m)) {
@CASES@        default: return CUDA_ERROR_INVALID_VALUE;
    }
}
)";

inline constexpr std::string_view kDispatcherLoad =
    R"(    if (!write_path(path, sizeof(path), folder, "@CUBIN@.cubin")) return CUDA_ERROR_INVALID_VALUE;
    result = @KERNEL@_load(&kernels->kernel_@I@, path);
    if (result != CUDA_SUCCESS) return result;
    ++*loaded;
)";

inline constexpr std::string_view kDispatcherUnload =
    R"(    if (loaded > @I@ && (one = @KERNEL@_unload(&kernels->kernel_@I@)) != CUDA_SUCCESS) result = one;
)";

inline constexpr std::string_view kDispatcherLaunch = R"(
static CUresult launch_@I@(const @KERNEL@_kernel *kernel, int64_t m, const jg_arguments *arguments, void *stream) {
    @KERNEL@_problem problem = @KERNEL@_exported_problem();
    problem.m = m;
@PITCHES@    return @KERNEL@_launch_problem(kernel, &problem, arguments, stream);
}
)";

}  // namespace jitgemm::export_text
