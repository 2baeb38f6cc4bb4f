/* A program of the interface's first version, with every function, constant and member that it has. It prints nothing
 * if today's library keeps that version's promises. */
#include "jitgemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char *what) {
    if (holds) return;
    ++failures;
    printf("%s (%s)\n", what, jg_last_error());
}

#define EXPECT(condition) expect(condition, #condition)

static void check_layout(void) {
    EXPECT(JG_OK == 0 && JG_INVALID == 1 && JG_NO_KERNEL == 2 && JG_COMPILE_FAILED == 3 && JG_CUDA_FAILED == 4);
    EXPECT(JG_OUT_OF_MEMORY == 5 && JG_FAILED == 6 && JG_SAME == -1);
    EXPECT(JG_LOG_TRACE == 0 && JG_LOG_DEBUG == 1 && JG_LOG_INFO == 2 && JG_LOG_WARNING == 3 && JG_LOG_ERROR == 4);
    EXPECT(sizeof(jg_status) == 4);
#if UINTPTR_MAX == UINT64_MAX
    EXPECT(sizeof(jg_gemm) == 240 && offsetof(jg_gemm, a) == 32 && offsetof(jg_gemm, lda) == 88);
    EXPECT(offsetof(jg_gemm, batch) == 152 && offsetof(jg_gemm, bias) == 192 && offsetof(jg_gemm, scale_d) == 232);
    EXPECT(sizeof(jg_arguments) == 64 && offsetof(jg_arguments, d) == 32 && offsetof(jg_arguments, alpha) == 40);
    EXPECT(offsetof(jg_arguments, workspace) == 48 && offsetof(jg_arguments, workspace_bytes) == 56);
#endif
}

static void count(int32_t level, const char *message, void *user) {
    if (level >= JG_LOG_TRACE && message != NULL) ++*(int *)user;
}

static void check_kernel(jg_kernel *kernel) {
    static const char *const texts[] = {"name", "spec", "source", "json"};
    static float a[12], b[20], d[15], c[15];
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    uint64_t workspace = 1;
    size_t size = sizeof workspace, i;
    char *text;
    for (i = 0; i < 12; ++i) a[i] = 1;
    for (i = 0; i < 20; ++i) b[i] = 2;
    for (i = 0; i < 15; ++i) c[i] = 3;
    arguments.a = a;
    arguments.b = b;
    arguments.c = c;
    arguments.d = d;
    arguments.alpha = 0.5f;
    arguments.beta = 2;
    EXPECT(arguments.workspace == NULL && arguments.workspace_bytes == 0);
    EXPECT(jg_kernel_launch(kernel, &arguments, NULL) == JG_OK);
    for (i = 0; i < 15; ++i) EXPECT(d[i] == 10); /* 0.5 * 4 * 2 + 2 * 3 */
    EXPECT(jg_kernel_query(kernel, "workspace", &workspace, &size) == JG_OK && size == 8);
    EXPECT(jg_kernel_query(kernel, "cubin", NULL, &size) == JG_OK && size > 100);
    for (i = 0; i < 4; ++i) {
        EXPECT(jg_kernel_query(kernel, texts[i], NULL, &size) == JG_OK);
        text = malloc(size);
        EXPECT(text != NULL && jg_kernel_query(kernel, texts[i], text, &size) == JG_OK);
        EXPECT(text != NULL && strlen(text) + 1 == size);
        free(text);
    }
    EXPECT(jg_kernel_tune(kernel) == JG_OK); /* its family is fixed: nothing to measure */
}

int main(void) {
    jg_context *context = NULL;
    jg_kernel *kernel = NULL;
    jg_gemm gemm = JG_GEMM_INIT;
    int messages = 0;
    check_layout();
    EXPECT(jg_version()[0] != '\0' && jg_last_error()[0] == '\0');
    EXPECT(jg_set_log(count, &messages) == JG_OK);
    EXPECT(jg_context_create("no such option", &context) == JG_INVALID && jg_last_error()[0] != '\0');
    EXPECT(jg_context_create("device=emulator:sm_80; family=simt_hierarchical; cache-dir=; log=trace", &context) ==
           JG_OK);
    EXPECT(jg_kernel_create(context, "gemm-v1 m=3 n=5 k=4 a=f32 layout=tt c=f32", &kernel) == JG_OK);
    if (kernel == NULL) return EXIT_FAILURE;
    check_kernel(kernel);
    jg_kernel_destroy(kernel);

    gemm.m = 3;
    gemm.n = 5;
    gemm.k = 4;
    gemm.a = gemm.b = gemm.c = gemm.d = gemm.acc = "f32";
    gemm.layout = "tt";
    gemm.d_layout = "t";
    gemm.lda = 4;
    gemm.ldb = gemm.ldc = gemm.ldd = 5;
    gemm.align_a = 16;
    gemm.align_b = gemm.align_c = gemm.align_d = 4;
    gemm.batch = 1;
    gemm.batch_stride_a = gemm.batch_stride_b = gemm.batch_stride_c = JG_SAME;
    gemm.batch_stride_d = 0;
    gemm.bias = gemm.activation = gemm.residual = gemm.scale_a = gemm.scale_b = gemm.scale_d = "none";
    EXPECT(jg_kernel_create_from_gemm(context, &gemm, &kernel) == JG_OK);
    if (kernel == NULL) return EXIT_FAILURE;
    jg_context_destroy(context);
    check_kernel(kernel);
    jg_kernel_destroy(kernel);
    EXPECT(jg_set_log(NULL, NULL) == JG_OK);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
