/* One small GEMM through jitgemm's C interface, on the emulator, where operands are arrays of the program's own:
 *
 *     cc -std=c99 gemm.c $(pkg-config --cflags --libs jitgemm-c) -o gemm && ./gemm
 *
 * On a GPU (./gemm has nothing for it) the pointers are addresses of device memory, and the stream is a CUstream or
 * cudaStream_t. Other options of the context go on the command line: ./gemm "device=emulator:sm_80; log=debug" */
#include <jitgemm/jitgemm.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 33, N = 20, K = 50 };

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, jg_last_error());
    return EXIT_FAILURE;
}

/* Small integers: every sum is exact. */
static void fill(float *values, int count, int period) {
    int i;
    for (i = 0; i < count; ++i) values[i] = (float)(i % period - period / 2);
}

/* A is M rows of K, B is K rows of N ("tt", numpy's a @ b), D is M rows of N. */
static int count_wrong(const float *a, const float *b, const float *d) {
    int i, j, p, wrong = 0;
    for (i = 0; i < M; ++i) {
        for (j = 0; j < N; ++j) {
            float sum = 0;
            for (p = 0; p < K; ++p) sum += a[i * K + p] * b[p * N + j];
            wrong += d[i * N + j] != 2 * sum;
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
    wrong = count_wrong(a, b, d);
    printf("%s\n%d of %d elements are wrong\n", name, wrong, M * N);
    free(name);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    jg_context *context = NULL;
    int result;
    if (jg_context_create(argc > 1 ? argv[1] : "device=emulator:sm_80", &context) != JG_OK) return failed("no context");
    result = run(context);
    jg_context_destroy(context);
    return result;
}
