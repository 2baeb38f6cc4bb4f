/* jitgemm in C: D = alpha * A * B + beta * C, by a kernel that is generated and compiled for each problem.
 *
 *     jg_context *context = NULL;
 *     jg_kernel *kernel = NULL;
 *     jg_arguments arguments = JG_ARGUMENTS_INIT;
 *     if (jg_context_create(NULL, &context) != JG_OK) return fail(jg_last_error());
 *     if (jg_kernel_create(context, "bf16 tn 4096 4096 4096", &kernel) != JG_OK) return fail(jg_last_error());
 *     arguments.a = a; arguments.b = b; arguments.d = d;
 *     if (jg_kernel_launch(kernel, &arguments, stream) != JG_OK) return fail(jg_last_error());
 *
 * The header is C99 and includes no CUDA header. The library links neither libcuda nor libnvrtc; it loads them when it
 * needs them. docs/c.md has more.
 *
 * Threads: functions that are called thread-safe below may run in any thread at any time, also on the same objects. No
 * call may use an object that another call destroys. No call changes the thread's current CUcontext, locale, signal
 * mask or floating-point environment. No call aborts the process or throws a C++ exception.
 *
 * fork: the child must create its own context. Every call on the parent's contexts and kernels fails in the child,
 * except destroy. fork() waits up to 10 s for kernels that other threads are compiling. If that is too short, the
 * child's compiles return JG_COMPILE_FAILED. CUDA itself does not work in a forked child.
 *
 * dlclose: this library and libnvrtc stay loaded after the first compile, and libcuda after the first use of a GPU.
 *
 * Compatibility: structs begin with their size and only grow at the end. Functions and constants are only added. So a
 * program that was compiled with an older header runs with every libjitgemm.so.0. The library accepts a struct of a
 * newer header if all bytes that it does not know are zero. */
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
typedef struct jg_kernel_set jg_kernel_set; /* a few kernels that serve a problem for each m of a range */

/* ---- status ------------------------------------------------------------------------------------------------------ */

typedef int32_t jg_status;
enum {
    JG_OK = 0,
    JG_INVALID = 1,        /* an argument, an option, the problem or an operand of a launch breaks a rule */
    JG_NO_KERNEL = 2,      /* no kernel serves the problem, or the named kernel does not fit it */
    JG_COMPILE_FAILED = 3, /* NVRTC rejected the source or was not found */
    JG_CUDA_FAILED = 4,    /* a driver call failed, or there is no driver or no such device */
    JG_OUT_OF_MEMORY = 5,  /* host memory */
    JG_FAILED = 6,         /* any other error: a file, a fault that the emulator found */
    JG_NOT_READY = 7       /* a request with on_miss "fail" needs a kernel that is not loaded */
};

/* Why the calling thread's last call failed: the request, and every broken rule on a line of its own. "" if the call
 * succeeded. The text stays valid until the thread calls another function than this one and jg_version. Never NULL.
 * Thread-safe: each thread has its own text. */
JG_API const char *jg_last_error(void);

/* The version of the loaded library: "0.1.0". Thread-safe. */
JG_API const char *jg_version(void);

/* The library logs to stderr. The level belongs to the process and starts as "warning"; the context option `log` sets
 * it. A callback receives the messages instead. They come from any thread, one at a time. `message` is valid during the
 * call. A callback must not throw. Messages of jitgemm calls within a callback are dropped. */
enum { JG_LOG_TRACE = 0, JG_LOG_DEBUG = 1, JG_LOG_INFO = 2, JG_LOG_WARNING = 3, JG_LOG_ERROR = 4 };
typedef void jg_log_callback(int32_t level, const char *message, void *user);
/* Sets the callback of the process; NULL restores stderr. After the return the previous callback neither runs nor is
 * called again. A call from within a callback returns JG_FAILED. Thread-safe. */
JG_API jg_status jg_set_log(jg_log_callback *callback, void *user);

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* `options` is "key=value; key=value" and overrides the environment; NULL or "": the environment alone. Keys: device
 * ("cuda": the current CUcontext's device, else GPU 0; "cuda:N"; "emulator:ARCH": the CPU runs and checks the kernel,
 * about a million times slower), cache-dir, log, nvrtc, kernel, family, param, tuning-seconds ... (docs/c.md lists
 * all). On failure *context is NULL. Thread-safe. */
JG_API jg_status jg_context_create(const char *options, jg_context **context);
/* Destroys the context. Its kernels stay usable. NULL is allowed. Call this once per context, from any thread, when no
 * other call uses it. */
JG_API void jg_context_destroy(jg_context *context);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* A problem: D (m, n) = alpha * A (m, k) * B (k, n) + beta * C (m, n). A member that is 0 or NULL has its default. The
 * words are those of the text form, and members are its keys with _ for -: a = "bf16", layout = "tn", constant_b =
 * "yes" (docs/c.md). */
typedef struct jg_gemm {
    size_t size; /* sizeof(jg_gemm) */
    int64_t m, n, k;
    const char *a, *b, *c, *d; /* f16 bf16 f32 tf32 e4m3 e5m2 s8; NULL: a bf16, b and d by a, no C */
    const char *acc;           /* type of the accumulator */
    const char *layout;        /* order of A and B: tn (the default), nn, nt, tt; t is row-major, n column-major */
    const char *d_layout;      /* order of C and D: t (the default) or n */
    int64_t lda, ldb, ldc, ldd;                 /* in elements; 0: packed */
    int64_t align_a, align_b, align_c, align_d; /* in bytes; 0: as the pitch allows, with a base aligned to 256 bytes */
    /* Must be 0 and NULL. Earlier headers gave these members names, but no kernel served them (docs/c.md). */
    int64_t reserved_1, reserved_2, reserved_3, reserved_4, reserved_5;
    const char *reserved_6, *reserved_7, *reserved_8, *reserved_9, *reserved_10, *reserved_11;
    const char *constant_a, *constant_b; /* yes: no kernel still running on the stream writes it (weights) */
    const char *deterministic; /* run_to_run, or batch_invariant: the bits of a row of D do not depend on m */
    const char *broadcast_c;   /* yes: treat C as a bias, one row added to every row of D (d_layout n: one column) */
    const char *epilogue; /* what is stored: "d = silu(acc + bias[n]) * up[m,n]"; NULL: alpha * acc + beta * C */
    const char *sums;     /* fast or promoted: who adds up products of e4m3 and e5m2 (docs/eight-bits.md) */
    const char *math;     /* ieee (default), f16x3, bf16x6, tf32x3, bf16x3 or tf32 (docs/single-precision.md) */
    int64_t batch;        /* problems of this size in one launch; 0: one */
    /* Elements from one problem's matrix to the next one's; 0: packed; JG_SAME: all problems have one. */
    int64_t batch_stride_a, batch_stride_b, batch_stride_c, batch_stride_d;
    int64_t groups; /* groups of rows of A and D, each with its own B, batch_stride_b apart (docs/groups.md); 0: none */
    int64_t group_rows;    /* rows that each group has room for; 0: groups lie one behind the other */
    int64_t expected_rows; /* of a group, for the choice of a kernel; 0: m / groups */
    const char *ragged;    /* m (default), or k: groups cut K, and each has a D */
    const char *symmetric; /* yes: D = alpha * A * A^T. n is m, B is not there (docs/batches.md) */
    int64_t source_rows;   /* rows of A, which row_index picks for the rows of D; 0: A has m rows */
    const char *prepared;  /* a, b or ab: operands of launches that jg_kernel_prepare makes ready; NULL: none */
    const char *pointers;  /* yes: a, b, c and d of a launch are arrays of batch addresses each (docs/batches.md) */
    int64_t batch_inner; /* problems along the first of a batch's two dimensions; batch is a multiple of it; 0: one */
    /* Elements from a matrix to the one batch_inner problems further on; 0: packed; JG_SAME: they are one. */
    int64_t outer_stride_a, outer_stride_b, outer_stride_c, outer_stride_d;
} jg_gemm;
#define JG_GEMM_INIT \
    {sizeof(jg_gemm), 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, \
     NULL, 0, NULL, NULL, 0, 0, 0, 0, 0}
/* A batch stride: all problems have one matrix. reserved_2 to reserved_5 may have this value; it has no effect. */
#define JG_SAME (-1)

/* Creates the kernel for a problem. It comes from memory, else from the disk cache, else it is compiled, which takes
 * about a second. `spec` is the text form of the command line: "bf16 tn 4096 4096 4096" (type, layout, m, n, k), or
 * "gemm-v3 m=4096 n=4096 k=4096 a=f16 epilogue='d = acc + x[m,n]' ld-x=4224 ..." (other keys have defaults). On failure
 * *kernel is NULL. Thread-safe: threads that request one kernel share one compile; different kernels compile at the
 * same time. */
JG_API jg_status jg_kernel_create(jg_context *context, const char *spec, jg_kernel **kernel);
/* Creates the kernel for a struct: jg_gemm gemm = JG_GEMM_INIT; gemm.m = 4096; ... Thread-safe. */
JG_API jg_status jg_kernel_create_from_gemm(jg_context *context, const jg_gemm *gemm, jg_kernel **kernel);
/* A request that says what a miss does, that is, a kernel that is not loaded. */
typedef struct jg_request {
    size_t size;        /* sizeof(jg_request) */
    const char *spec;   /* the problem as for jg_kernel_create; NULL: `gemm` is the problem */
    const jg_gemm *gemm;
    /* NULL: the context's option on-miss. "wait": load or compile the kernel. "serve": return at once with another
     * loaded kernel that computes the problem, and replace it in all jg_kernels of the problem when the chosen one has
     * been compiled in the background; the bits of D may change then. If no loaded kernel fits, wait. "fail": return
     * JG_NOT_READY; nothing is compiled, and no cache is read. */
    const char *on_miss;
} jg_request;
#define JG_REQUEST_INIT {sizeof(jg_request), NULL, NULL, NULL}
/* Creates the kernel for a request. Otherwise as jg_kernel_create. Thread-safe. */
JG_API jg_status jg_kernel_request(jg_context *context, const jg_request *request, jg_kernel **kernel);
/* Destroys the kernel. NULL is allowed. Call this once per kernel, from any thread, when no other call uses it. An
 * enqueued launch needs the kernel until it has ended, a captured one as long as the graph is launched. */
JG_API void jg_kernel_destroy(jg_kernel *kernel);

/* Searches for a faster kernel for the problem. Processes of the program `jitgemm` measure on the context's device, up
 * to the option tuning-seconds. Afterwards this kernel and all others of the context for the same problem launch the
 * winner, and later contexts find it in the store. Nothing happens if the problem was tuned before. Thread-safe: a
 * context runs one search at a time, and launches go on meanwhile. */
JG_API jg_status jg_kernel_tune(jg_kernel *kernel);

/* Answers a question about a kernel. `what` is one of
 *     "name"       canonical name                                  text
 *     "spec"       the problem in full: "gemm-v1 m=..."            text
 *     "source"     the CUDA file that was compiled                 text
 *     "json"       problem, kernel, registers, choice ...          text, one object
 *     "cubin"      the loaded binary; PTX on the emulator          bytes
 *     "workspace"  bytes of workspace that a launch needs          uint64_t
 *     "prepared-a" bytes of a prepared A; 0: it is read as it lies uint64_t
 *     "prepared-b" the same of B                                   uint64_t
 * *size is the capacity of `buffer` in bytes; the call sets it to the size of the answer. A text includes its closing
 * 0. With a NULL `buffer` only *size is set. If the capacity is too small, the call returns JG_INVALID, sets *size and
 * leaves the buffer unchanged. Tuning may change the answer between two calls. Thread-safe. */
JG_API jg_status jg_kernel_query(const jg_kernel *kernel, const char *what, void *buffer, size_t *size);

/* Operands of a launch; launchers that `jitgemm export` writes take the same struct. Pointers are device addresses; on
 * the emulator they are host addresses. */
#ifndef JG_ARGUMENTS_INIT
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

/* Whether the kernel may start before the previous kernel of the stream has ended (programmatic dependent launch).
 * AUTO: yes, if it was generated with dependent_launch=1. OFF: no. ON: yes, and JG_INVALID if it was generated
 * without. The kernel waits before it accesses memory that others may write, so the results are right with each of the
 * three. */
enum { JG_DEPENDENT_AUTO = 0, JG_DEPENDENT_OFF = 1, JG_DEPENDENT_ON = 2 };

/* Enqueues the kernel on a CUstream or cudaStream_t; NULL is the legacy default stream. The stream may be capturing a
 * graph. Nothing is enqueued if m or n is 0, or if the call fails. On the emulator the kernel has ended when the call
 * returns. A misaligned workspace is JG_INVALID even if this kernel needs none, because tuning may replace the kernel.
 * Thread-safe. A launch takes no lock if it brings its workspace or needs none. */
JG_API jg_status jg_kernel_launch(const jg_kernel *kernel, const jg_arguments *arguments, void *stream);

/* Prepared operands: weights are split, transposed or packed once, and launches skip that pass. The problem has
 * prepared = "b" (or "a", "ab"). */
typedef struct jg_prepared jg_prepared;
/* Enqueues the preparation of `matrix`, the kernel's A or B: `operand` is 'a' or 'b'. All kernels that read the operand
 * in the same form take the result. `memory` is optional: "prepared-b" bytes on the device, aligned to 256 bytes, which
 * stay the caller's; with NULL the library allocates them. Where kernels read the operand as it lies, the result refers
 * to `matrix`. Where operands are split in parts (f16x3), kernels for few rows read `matrix`, too. So it must stay,
 * unchanged, until the last launch has ended. (On the emulator the library copies it.) On failure *prepared is NULL.
 * Thread-safe. */
JG_API jg_status jg_kernel_prepare(const jg_kernel *kernel, char operand, const void *matrix, void *memory,
                                   size_t bytes, void *stream, jg_prepared **prepared);
/* Destroys it. NULL is allowed. Call this once, from any thread, when the last launch with it has ended. */
JG_API void jg_prepared_destroy(jg_prepared *prepared);
/* Writes the form, "e4m3, 4096 lines of k=7168, K contiguous, pitch 7168", as jg_kernel_query writes a text.
 * Thread-safe. */
JG_API jg_status jg_prepared_form(const jg_prepared *prepared, char *buffer, size_t *size);
/* jg_kernel_launch with prepared operands in place of arguments->a and ->b. Pass NULL for one that is not prepared.
 * JG_INVALID if the kernel reads another form. Thread-safe. */
JG_API jg_status jg_kernel_launch_prepared(const jg_kernel *kernel, const jg_arguments *arguments, const jg_prepared *a,
                                           const jg_prepared *b, void *stream);

/* Creates a few kernels that serve a problem for each m from first_m to last_m, and compiles them. `spec` is as for
 * jg_kernel_create; its m does not count. On failure *set is NULL. Thread-safe. */
JG_API jg_status jg_kernel_set_create(jg_context *context, const char *spec, int64_t first_m, int64_t last_m,
                                      jg_kernel_set **set);
/* Destroys the set, but not the kernels that it gave. NULL is allowed. Call this once per set, from any thread. */
JG_API void jg_kernel_set_destroy(jg_kernel_set *set);
/* Creates a handle to the kernel for m rows. Nothing is compiled. jg_kernel_tune does not change it. Thread-safe. */
JG_API jg_status jg_kernel_set_kernel(const jg_kernel_set *set, int64_t m, jg_kernel **kernel);
/* Launches the kernel for m rows, as jg_kernel_launch does. Thread-safe. */
JG_API jg_status jg_kernel_set_launch(const jg_kernel_set *set, int64_t m, const jg_arguments *arguments, void *stream);
/* Answers a question about a set, as jg_kernel_query does. `what` is "text", a table for people, or "json", which has
 * its kernels and the ranges of m that they serve. Thread-safe. */
JG_API jg_status jg_kernel_set_query(const jg_kernel_set *set, const char *what, void *buffer, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
