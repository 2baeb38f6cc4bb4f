/* The interface of a peer library, a shared object that jitgemm times its kernels against: jitgemm bench --against
 * lib:PEER.so. A peer is written in C. It defines jitgemm_peer_gemm and may define the other two functions. See
 * docs/peers.md. */
#ifndef JITGEMM_PEER_H
#define JITGEMM_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of struct jitgemm_peer_problem. A newer version only adds fields at the end. */
#define JITGEMM_PEER_VERSION 1

/* D (m x n) = alpha * A (m x k) * B (k x n) + beta * C (m x n). */
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

#ifdef __cplusplus
}
#endif

#endif
