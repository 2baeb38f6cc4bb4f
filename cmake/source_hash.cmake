# Puts a hash of the C++ that writes parts of a kernel into a C++ file that defines generator_hash(): a kernel's text
# comes from the templates and from there, and neither the version nor the templates change when a wrapper does.
# Included by CMakeLists.txt it defines jitgemm_hash_generator(); run with cmake -P it writes the file.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    # jitgemm_hash_generator(<variable for the .cpp>)
    function(jitgemm_hash_generator output_variable)
        set(folder ${PROJECT_SOURCE_DIR}/generator)
        file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.hpp)
        set(script ${PROJECT_SOURCE_DIR}/cmake/source_hash.cmake)
        set(output ${PROJECT_BINARY_DIR}/generator_hash.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/generator -DOUTPUT=${output} -P ${script}
            DEPENDS ${files} ${script}
            COMMENT "Hashing generator/" VERBATIM)
        # Every change of the generator writes it anew: no other file is to be compiled for that.
        set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        set(${output_variable} ${output} PARENT_SCOPE)
    endfunction()
    return()
endif()

file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*.cpp ${FOLDER}/*.hpp)
# Files that draw, explain or choose kernels, or read problems, write none of the kernels' text. So a new cost constant
# leaves measured times as they are.
list(FILTER files EXCLUDE REGEX "^draw/|^base/spec_text|explain|heuristics|cost|roofline|line_diff|nearest_name")
list(SORT files)
set(hashes "")
foreach(file IN LISTS files)
    file(SHA256 ${FOLDER}/${file} hash)
    string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")

file(WRITE ${OUTPUT} "// Written by cmake/source_hash.cmake.
#include \"generator/generator_hash.hpp\"

namespace jitgemm {

std::string_view generator_hash() { return \"${hash}\"; }

}  // namespace jitgemm
")
