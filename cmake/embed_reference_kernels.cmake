# Puts the runtime's own device code, reference_arithmetic.cuh followed by reference_kernels.cu, into a C++ file that defines
# reference_kernels_text(). Included by CMakeLists.txt it defines jitgemm_embed_reference_kernels(); run with cmake -P it writes the file.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    function(jitgemm_embed_reference_kernels output_variable)
        set(directory ${PROJECT_SOURCE_DIR}/runtime)
        set(output ${PROJECT_BINARY_DIR}/embedded_reference_kernels.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -DDIRECTORY=${directory} -DOUTPUT=${output}
                    -P ${PROJECT_SOURCE_DIR}/cmake/embed_reference_kernels.cmake
            DEPENDS ${directory}/reference_arithmetic.cuh ${directory}/reference_kernels.cu
                    ${PROJECT_SOURCE_DIR}/cmake/embed_reference_kernels.cmake
            COMMENT "Embedding reference kernels" VERBATIM)
        set(${output_variable} ${output} PARENT_SCOPE)
    endfunction()
    return()
endif()

file(READ ${DIRECTORY}/reference_arithmetic.cuh arithmetic)
file(READ ${DIRECTORY}/reference_kernels.cu kernels)

# One literal a file: each stays below the 64 KiB that a compiler need not exceed.
file(WRITE ${OUTPUT} "// Written by cmake/embed_reference_kernels.cmake.
#include \"runtime/reference_kernels.hpp\"

namespace jitgemm {

const std::string& reference_kernels_text() {
    static const std::string text = std::string(R\"JITGEMM(${arithmetic})JITGEMM\").append(R\"JITGEMM(
${kernels})JITGEMM\");
    return text;
}

}  // namespace jitgemm
")
