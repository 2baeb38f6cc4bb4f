/* Frozen: the header as it first landed. A program is compiled against it and run with the library of today. */
/* jitgemm in C: D = alpha * A * B + beta * C, by a kernel that is generated and compiled for the problem in hand.
 *
 *     jg_context *context = NULL;
 *     jg_kernel *kernel = NULL;
 *     jg_arguments arguments = JG_ARGUMENTS_INIT;
 *     if (jg_context_create(NULL, &context) != JG_OK) return fail(jg_last_error());
 *     if (jg_kernel_create(context, "bf16 tn 4096 4096 4096", &kernel) != JG_OK) return fail(jg_last_error());
 *     arguments.a = a; arguments.b = b; arguments.d = d;
 *     if (jg_kernel_launch(kernel, &arguments, stream) != JG_OK) return fail(jg_last_error());
 *
 * C99; no CUDA header is included, and neither libcuda nor libnvrtc linked: both are looked for when they are needed.
 * docs/c.md has what this page has no room for.
 *
 * What is said to be thread-safe may be called from any thread at any time, on the same objects too, as long as nobody
 * destroys what another call uses. The calling thread's current CUcontext is as it was after every call. No call aborts
 * the process, and no C++ exception leaves one.
 *
 * The structs begin with their size and are only ever appended to, functions and constants are only added: a program
 * that was compiled against an older header runs with every libjitgemm.so.0. A struct of a newer header is taken as
 * long as the bytes that the library doesn't know are zero. */
#ifndef JITGEMM_H
#define JITGEMM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define JG_API __attribute__((visibility("default")))
#else
#define JG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jg_context jg_context; /* kernels for one device */
typedef struct jg_kernel jg_kernel;   /* a kernel ready to launch for one problem */

/* ---- what calls answer ------------------------------------------------------------------------------------------- */

typedef int32_t jg_status;
enum {
    JG_OK = 0,
    JG_INVALID = 1,        /* an argument, an option, the problem or what a launch was given breaks a rule */
    JG_NO_KERNEL = 2,      /* no kernel serves the problem, or the one that was asked for doesn't fit it */
    JG_COMPILE_FAILED = 3, /* NVRTC refused the source or was not found */
    JG_CUDA_FAILED = 4,    /* a call of the driver failed */
    JG_OUT_OF_MEMORY = 5,  /* of the host's */
    JG_FAILED = 6          /* the rest: no driver, no device, a file, a fault that the emulator found */
};

/* Why the calling thread's last call failed: what was asked, and every rule it breaks, a line each; "" where it
 * succeeded. Stays until the thread's next call of a function other than this and jg_version. Never NULL.
 * Thread-safe: each thread has its own. */
JG_API const char *jg_last_error(void);

/* Of the library that is loaded: "0.1.0". Thread-safe. */
JG_API const char *jg_version(void);

/* What the library logs, on stderr unless told otherwise. The level is an option of contexts, the process's, and
 * "warning" at first. `message` is valid during the call. Messages come from any thread, one at a time; a callback must
 * not throw, and what jitgemm logs of calls made within it is dropped. */
enum { JG_LOG_TRACE = 0, JG_LOG_DEBUG = 1, JG_LOG_INFO = 2, JG_LOG_WARNING = 3, JG_LOG_ERROR = 4 };
typedef void jg_log_callback(int32_t level, const char *message, void *user);
/* For the process; NULL: stderr again. When it returns, the callback before is not running and not called any more. Not
 * to be called from a callback: JG_FAILED. Thread-safe. */
JG_API jg_status jg_set_log(jg_log_callback *callback, void *user);

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* `options`: "key=value; key=value", on top of what the environment says; NULL or "" for that alone. Keys: device
 * ("cuda": the current context's, else GPU 0; "cuda:N"; "emulator:ARCH": on the CPU, checked, some million times
 * slower), cache-dir, log, nvrtc, kernel, family, param, tuning-seconds ...: docs/c.md has all of them. On failure
 * *context is NULL. Thread-safe. */
JG_API jg_status jg_context_create(const char *options, jg_context **context);
/* Kernels of the context stay usable: what they need lives until the last of them is destroyed. NULL is nothing to
 * destroy. Once per context, when no other call uses it; any thread will do. */
JG_API void jg_context_destroy(jg_context *context);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* A problem; what is 0 or NULL is as usual. Words are those of the text form, keys with _ for -: a = "bf16", layout =
 * "tn", bias = "row-f32" (docs/c.md). D (m, n) = alpha * A (m, k) * B (k, n) + beta * C (m, n). */
typedef struct jg_gemm {
    size_t size; /* sizeof(jg_gemm) */
    int64_t m, n, k;
    const char *a, *b, *c, *d; /* f16 bf16 f32 tf32 e4m3 e5m2 s8; a NULL: bf16; b, d: what goes with a; c: no C */
    const char *acc;           /* type of the accumulator */
    const char *layout;        /* tn (the default), nn, nt, tt: A, B; t row-major, n column-major */
    const char *d_layout;      /* t (the default) or n: of C and D */
    int64_t lda, ldb, ldc, ldd;                 /* in elements; 0: packed */
    int64_t align_a, align_b, align_c, align_d; /* in bytes; 0: what the pitch and a 256-byte aligned base give */
    int64_t batch;                              /* problems; 0: one */
    int64_t batch_stride_a, batch_stride_b, batch_stride_c, batch_stride_d; /* in elements; 0: packed; JG_SAME */
    const char *bias, *activation, *residual;
    const char *scale_a, *scale_b, *scale_d;
} jg_gemm;
#define JG_GEMM_INIT \
    {sizeof(jg_gemm), 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
     NULL, NULL, NULL, NULL, NULL, NULL}
/* Of a batch stride: all problems have one A, B or C. */
#define JG_SAME (-1)

/* The kernel for a problem: from memory, else the disk cache, else compiled now, a second or so. `spec` is text, as the
 * command line and shape files have it: "bf16 tn 4096 4096 4096" (type, layout, m, n, k) or "gemm-v1 m=4096 n=4096
 * k=4096 a=f16 ..." (any key left out is as usual). On failure *kernel is NULL.
 * Thread-safe: who asks for one kernel at once waits for one compile, others compile side by side. */
JG_API jg_status jg_kernel_create(jg_context *context, const char *spec, jg_kernel **kernel);
/* The same, of a struct: jg_gemm gemm = JG_GEMM_INIT; gemm.m = 4096; ... Thread-safe. */
JG_API jg_status jg_kernel_create_from_gemm(jg_context *context, const jg_gemm *gemm, jg_kernel **kernel);
/* Once per kernel, when no other call uses it; any thread will do. A launch that is enqueued, or captured into a graph,
 * needs the kernel until it has ended. NULL is nothing to destroy. */
JG_API void jg_kernel_destroy(jg_kernel *kernel);

/* Searches for a better kernel for the problem, by processes of the program `jitgemm` on the context's device, for as
 * long as the option tuning-seconds says: this and every other kernel of the context for the same problem then launch
 * what was found, and later contexts find it in the store. Nothing happens where the problem was tuned before.
 * Thread-safe: one search of a context at a time, launches go on meanwhile. */
JG_API jg_status jg_kernel_tune(jg_kernel *kernel);

/* What is known of a kernel. `what` is one of
 *     "name"       canonical name                                  text
 *     "spec"       the problem in full: "gemm-v1 m=..."            text
 *     "source"     the CUDA file that was compiled                 text
 *     "json"       problem, kernel, registers, choice ...          text, one object
 *     "cubin"      what was loaded; PTX on the emulator            bytes
 *     "workspace"  bytes of workspace that a launch needs          uint64_t
 * *size is the room in `buffer` and becomes what it takes; with a `buffer` of NULL that is all. A text's closing 0
 * counts. Too little room: JG_INVALID, *size what it takes, the buffer as it was. Tuning may change the answer between
 * two calls. Thread-safe. */
JG_API jg_status jg_kernel_query(const jg_kernel *kernel, const char *what, void *buffer, size_t *size);

/* Operands of a launch, also of launchers that `jitgemm export` writes. Device addresses; on the emulator the program's
 * own arrays. */
#ifndef JG_ARGUMENTS_INIT
typedef struct jg_arguments {
    size_t size;   /* sizeof(jg_arguments) */
    const void *a; /* A and B are not read where alpha or k is 0 */
    const void *b;
    const void *c; /* not read where beta is 0 */
    void *d;       /* exactly c, or apart from all inputs */
    float alpha;
    float beta;      /* 0 unless the problem has a C */
    void *workspace; /* aligned to 16; NULL: the context's own for that stream */
    size_t workspace_bytes;
} jg_arguments;
#define JG_ARGUMENTS_INIT {sizeof(jg_arguments), NULL, NULL, NULL, NULL, 1.0f, 0.0f, NULL, 0} /* alpha 1 */
#endif

/* Enqueues on a CUstream or cudaStream_t, NULL the legacy default one; may be captured into a graph. m or n of 0
 * enqueues nothing. A launch that fails has enqueued nothing. On the emulator it has ended when the call returns,
 * whatever the stream. Thread-safe, without a lock. */
JG_API jg_status jg_kernel_launch(const jg_kernel *kernel, const jg_arguments *arguments, void *stream);

#ifdef __cplusplus
}
#endif

#endif
