/* The interface of a peer library, a shared object that jitgemm times its kernels against: jitgemm bench --against
 * lib:PEER.so. A peer is written in C. It defines jitgemm_peer_gemm and may define the other functions. See
 * docs/peers.md. */
#ifndef JITGEMM_PEER_H
#define JITGEMM_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of struct jitgemm_peer_problem. A newer version only adds fields at the end. */
#define JITGEMM_PEER_VERSION 3

/* An operand of an epilogue. */
struct jitgemm_peer_operand {
    const char *name;       /* as the epilogue has it */
    const char *type;       /* as type_a; NULL: a scalar of the launch, which has a value and no address */
    const void *pointer;    /* device address; NULL of a scalar, and in jitgemm_peer_variants */
    float value;            /* of a scalar */
    int32_t align;          /* least alignment of the pointer, in bytes */
    int64_t rows, columns;  /* bias[n] has 1 row, scale[m] has 1 column, s[0] has 1 of both */
    int64_t ld;             /* of a matrix and of scales of blocks; else 0 */
    /* ---- version 3 ---- */
    const char *row_index;  /* "m", "n", "m/128", "n/128" or "k/128", as the text has it; "h" with a D of pairs */
    const char *column_index;   /* NULL: there is one row, or one column */
    char order;             /* 't': row-major, 'n': column-major. A matrix has the order of D */
    char reserved[7];
};

/* D (m x n) = alpha * A (m x k) * B (k x n) + beta * C (m x n). With an epilogue, its text says what D holds: n counts
 * the columns of B, and a D of pairs has n / 2. */
struct jitgemm_peer_problem {
    uint32_t version;               /* JITGEMM_PEER_VERSION of the jitgemm that calls */
    uint32_t variant;               /* one of the peer's variants: 0 .. jitgemm_peer_variants(problem) - 1 */
    int64_t m, n, k;
    const char *type_a;             /* "f16", "bf16", "f32", "tf32", "e4m3", "e5m2", "s8", "s32" */
    const char *type_b;
    const char *type_c;             /* NULL: there is no C */
    const char *type_d;
    const char *type_accumulator;
    int64_t lda, ldb, ldc, ldd;     /* leading dimensions, in elements */
    int32_t align_a, align_b, align_c, align_d; /* least alignment of every pointer, in bytes */
    char order_a, order_b, order_d; /* 't': row-major, 'n': column-major; C has the order of D */
    char reserved;
    float alpha, beta;
    /* ---- version 2 ---- */
    uint64_t size;          /* sizeof(struct jitgemm_peer_problem) of the jitgemm that calls */
    const char *epilogue;   /* "up: bf16[m,n]; d = silu(acc) * up[m,n]"; NULL: none */
    const struct jitgemm_peer_operand *operands; /* those of the epilogue, in the order of their first use */
    uint64_t operand_count;
    uint64_t operand_size;  /* bytes from one operand to the next */
    /* ---- version 3 ---- */
    const char *sums;       /* "fast": tensor cores alone add; "promoted": e4m3 and e5m2 begin anew every 128 of K */
    const char *math;       /* of f32: "ieee", "tf32", "f16x3", ... */
};

/* Enqueues the problem on `stream` (a cudaStream_t) and returns 0; any other value means that the peer cannot compute
 * it. a, b, c and d are device addresses; c is null without C. The CUDA context of the device is current. The stream
 * may be capturing a graph, so the function must not synchronize. The first call for a problem is never captured: set
 * up there. */
int jitgemm_peer_gemm(const struct jitgemm_peer_problem *problem, const void *a, const void *b, const void *c, void *d,
                      void *stream);

/* Optional: a name for reports; default: the file's name. */
const char *jitgemm_peer_name(void);

/* Optional: in how many ways the peer computes the problem, its own first choice first; 0 or less: in none.
 * Default: 1. */
int jitgemm_peer_variants(const struct jitgemm_peer_problem *problem);

/* The JITGEMM_PEER_VERSION that the peer was compiled with. A peer that does not define the function counts as one of
 * version 1. Such a peer is not asked for problems with an epilogue. */
int jitgemm_peer_version(void);

#ifdef __cplusplus
}
#endif

#endif
