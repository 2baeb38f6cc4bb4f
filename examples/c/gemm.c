/* A small GEMM, a batch and groups of rows through jitgemm's C interface, on the emulator, where operands are arrays of
 * the program's own:
 *
 *     cc -std=c99 gemm.c $(pkg-config --cflags --libs jitgemm-c) -o gemm && ./gemm
 *
 * On a GPU (./gemm has nothing for it) the pointers are addresses of device memory, and the stream is a CUstream or
 * cudaStream_t. Other options of the context go on the command line: ./gemm "device=emulator:sm_80; log=debug" */
#include <jitgemm/jitgemm.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 33, N = 20, K = 50, BATCH = 3 };

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, jg_last_error());
    return EXIT_FAILURE;
}

/* Small integers: every sum is exact. */
static void fill(float *values, int count, int period) {
    int i;
    for (i = 0; i < count; ++i) values[i] = (float)(i % period - period / 2);
}

/* A has rows of K, B is K rows of N ("tt", numpy's a @ b), D has rows of N. */
static int count_wrong(const float *a, const float *b, const float *d, int rows, float alpha) {
    int i, j, p, wrong = 0;
    for (i = 0; i < rows; ++i) {
        for (j = 0; j < N; ++j) {
            float sum = 0;
            for (p = 0; p < K; ++p) sum += a[i * K + p] * b[p * N + j];
            wrong += d[i * N + j] != alpha * sum;
        }
    }
    return wrong;
}

/* The size is asked for first. */
static char *query_text(const jg_kernel *kernel, const char *what) {
    size_t size = 0;
    char *text;
    if (jg_kernel_query(kernel, what, NULL, &size) != JG_OK) return NULL;
    text = malloc(size);
    if (text != NULL && jg_kernel_query(kernel, what, text, &size) != JG_OK) {
        free(text);
        return NULL;
    }
    return text;
}

static int run(jg_context *context) {
    static float a[M * K], b[K * N], d[M * N];
    jg_gemm gemm = JG_GEMM_INIT;
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    jg_kernel *kernel = NULL;
    jg_status status;
    char *name;
    int wrong;

    gemm.m = M;
    gemm.n = N;
    gemm.k = K;
    gemm.a = "f32";
    gemm.layout = "tt";
    if (jg_kernel_create_from_gemm(context, &gemm, &kernel) != JG_OK) return failed("no kernel");

    fill(a, M * K, 7);
    fill(b, K * N, 5);
    arguments.a = a;
    arguments.b = b;
    arguments.d = d;
    arguments.alpha = 2;
    status = jg_kernel_launch(kernel, &arguments, NULL);
    if (status != JG_OK) failed("not launched");

    name = status == JG_OK ? query_text(kernel, "name") : NULL;
    jg_kernel_destroy(kernel);
    if (name == NULL) return EXIT_FAILURE;
    wrong = count_wrong(a, b, d, M, 2);
    printf("%s\n%d of %d elements are wrong\n", name, wrong, M * N);
    free(name);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Makes the kernel, launches it once, and forgets it. */
static int multiply(jg_context *context, const jg_gemm *gemm, const jg_arguments *arguments) {
    jg_kernel *kernel = NULL;
    jg_status status;
    if (jg_kernel_create_from_gemm(context, gemm, &kernel) != JG_OK) return failed("no kernel");
    status = jg_kernel_launch(kernel, arguments, NULL);
    if (status != JG_OK) failed("not launched");
    jg_kernel_destroy(kernel);
    return status == JG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int tell(const char *what, int wrong, int of) {
    printf("%s: %d of %d elements are wrong\n", what, wrong, of);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* BATCH products in one launch. Each has its own A and D, and all share B. */
static int run_batch(jg_context *context) {
    static float a[BATCH * M * K], b[K * N], d[BATCH * M * N];
    jg_gemm gemm = JG_GEMM_INIT;
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    int i, wrong = 0;

    gemm.m = M;
    gemm.n = N;
    gemm.k = K;
    gemm.a = "f32";
    gemm.layout = "tt";
    gemm.batch = BATCH;
    gemm.batch_stride_b = JG_SAME;
    fill(a, BATCH * M * K, 7);
    fill(b, K * N, 5);
    arguments.a = a;
    arguments.b = b;
    arguments.d = d;
    if (multiply(context, &gemm, &arguments) != EXIT_SUCCESS) return EXIT_FAILURE;
    for (i = 0; i < BATCH; ++i) wrong += count_wrong(a + i * M * K, b, d + i * M * N, M, 1);
    return tell("batch", wrong, BATCH * M * N);
}

/* M rows in BATCH groups, each with its own B. The second one is empty. Only the device reads where groups end. */
static int run_groups(jg_context *context) {
    static const int32_t ends[BATCH] = {20, 20, M};
    static float a[M * K], b[BATCH * K * N], d[M * N];
    jg_gemm gemm = JG_GEMM_INIT;
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    int i, first = 0, wrong = 0;

    gemm.m = M;
    gemm.n = N;
    gemm.k = K;
    gemm.a = "f32";
    gemm.layout = "tt";
    gemm.groups = BATCH;
    fill(a, M * K, 7);
    fill(b, BATCH * K * N, 11);
    arguments.a = a;
    arguments.b = b;
    arguments.d = d;
    arguments.offsets = ends;
    if (multiply(context, &gemm, &arguments) != EXIT_SUCCESS) return EXIT_FAILURE;
    for (i = 0; i < BATCH; ++i) {
        wrong += count_wrong(a + first * K, b + i * K * N, d + first * N, ends[i] - first, 1);
        first = ends[i];
    }
    return tell("groups", wrong, M * N);
}

int main(int argc, char **argv) {
    jg_context *context = NULL;
    int result;
    if (jg_context_create(argc > 1 ? argv[1] : "device=emulator:sm_80", &context) != JG_OK) return failed("no context");
    result = run(context);
    if (result == EXIT_SUCCESS) result = run_batch(context);
    if (result == EXIT_SUCCESS) result = run_groups(context);
    jg_context_destroy(context);
    return result;
}
