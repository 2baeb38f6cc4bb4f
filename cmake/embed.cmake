# Puts files (CUDA, wisdom, cost tables) into a C++ file that defines FUNCTION, which gives their texts by name.
# Included by CMakeLists.txt it defines jitgemm_embed(); run with cmake -P it writes the file.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    # jitgemm_embed(<variable for the .cpp> <folder> <header that declares the function> <function>)
    function(jitgemm_embed output_variable folder header function)
        file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cu
             ${PROJECT_SOURCE_DIR}/${folder}/*.cuh ${PROJECT_SOURCE_DIR}/${folder}/*.inl
             ${PROJECT_SOURCE_DIR}/${folder}/*.jsonl ${PROJECT_SOURCE_DIR}/${folder}/*.json)
        set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
        set(output ${PROJECT_BINARY_DIR}/${function}.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder} -DHEADER=${header} -DFUNCTION=${function}
                    -DOUTPUT=${output} -P ${script}
            DEPENDS ${files} ${script}
            COMMENT "Embedding ${folder}/" VERBATIM)
        set(${output_variable} ${output} PARENT_SCOPE)
    endfunction()
    return()
endif()

# A compiler need not take string literals longer than 64 KiB: a file becomes several.
set(chunk_length 8192)

file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*.cu ${FOLDER}/*.cuh
     ${FOLDER}/*.inl ${FOLDER}/*.jsonl ${FOLDER}/*.json)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
    file(READ ${FOLDER}/${file} text)
    string(LENGTH "${text}" length)
    string(APPEND entries "    files[\"${file}\"].reserve(${length});\n    files[\"${file}\"]")
    set(begin 0)
    while(begin LESS length)
        string(SUBSTRING "${text}" ${begin} ${chunk_length} chunk)
        string(APPEND entries "\n        .append(R\"JITGEMM(${chunk})JITGEMM\")")
        math(EXPR begin "${begin} + ${chunk_length}")
    endwhile()
    string(APPEND entries ";\n")
endforeach()

file(WRITE ${OUTPUT} "// Written by cmake/embed.cmake.
#include \"${HEADER}\"

namespace jitgemm {

std::map<std::string, std::string, std::less<>> ${FUNCTION}() {
    std::map<std::string, std::string, std::less<>> files;
${entries}    return files;
}

}  // namespace jitgemm
")
