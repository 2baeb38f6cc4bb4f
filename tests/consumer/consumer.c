#include <jitgemm/jitgemm.h>

#include <stdio.h>

int main(void) {
    jg_context *context = NULL;
    jg_kernel *kernel = NULL;
    if (jg_context_create(NULL, &context) != JG_OK ||
        jg_kernel_create(context, "bf16 tn 1000 777 555", &kernel) != JG_OK)
        printf("%s\n", jg_last_error()); /* no driver, device or NVRTC here */
    jg_kernel_destroy(kernel);
    jg_context_destroy(context);
    return jg_version()[0] == '\0';
}
