/* The interface of a peer library, a shared object that jitgemm times its kernels against:
 * jitgemm bench --against lib:PEER.so. Plain C. A peer defines jitgemm_peer_gemm and may define the other two functions.
 * See docs/peers.md. */
#ifndef JITGEMM_PEER_H
#define JITGEMM_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of struct jitgemm_peer_problem. A newer version only adds fields at its end. */
#define JITGEMM_PEER_VERSION 1

/* D (m x n) = alpha * A (m x k) * B (k x n) + beta * C (m x n). */
struct jitgemm_peer_problem {
    uint32_t version;               /* JITGEMM_PEER_VERSION of the jitgemm that calls */
    uint32_t variant;               /* which of the peer's ways to compute it: 0 .. jitgemm_peer_variants(problem) - 1 */
    int64_t m, n, k;
    const char *type_a;             /* "f16", "bf16", "f32", "tf32", "e4m3", "e5m2", "s8", "s32" */
    const char *type_b;
    const char *type_c;             /* NULL: there is no C */
    const char *type_d;
    const char *type_accumulator;
    int64_t lda, ldb, ldc, ldd;     /* leading dimensions, in elements */
    int32_t align_a, align_b, align_c, align_d; /* bytes that every pointer is at least aligned to */
    char order_a, order_b, order_d; /* 't': row-major, 'n': column-major; C lies as D does */
    char reserved;
    float alpha, beta;
};

/* Enqueues the problem on `stream` (a cudaStream_t) and returns 0; anything else means "cannot". a, b, c and d are device
 * addresses; c is null without C. The CUDA context of the device is current. The stream may be being captured into a
 * graph: nothing that synchronizes, and what has to be set up once belongs into the first call for a problem, which is
 * never captured. */
int jitgemm_peer_gemm(const struct jitgemm_peer_problem *problem, const void *a, const void *b, const void *c, void *d,
                      void *stream);

/* Optional: a name for reports; default: the file's name. */
const char *jitgemm_peer_name(void);

/* Optional: in how many ways the peer computes the problem, its own first choice first; 0 or less: in none.
 * Default: 1. */
int jitgemm_peer_variants(const struct jitgemm_peer_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
