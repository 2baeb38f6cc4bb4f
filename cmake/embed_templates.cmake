# Puts the files below templates/ into a C++ file that defines TemplateSet::embedded().
# Included by CMakeLists.txt it defines jitgemm_embed_templates(); run with cmake -P it writes the file.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    function(jitgemm_embed_templates output_variable)
        file(GLOB_RECURSE templates CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/templates/*.cu ${PROJECT_SOURCE_DIR}/templates/*.cuh)
        set(output ${PROJECT_BINARY_DIR}/embedded_templates.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -DTEMPLATES=${PROJECT_SOURCE_DIR}/templates -DOUTPUT=${output}
                    -P ${PROJECT_SOURCE_DIR}/cmake/embed_templates.cmake
            DEPENDS ${templates} ${PROJECT_SOURCE_DIR}/cmake/embed_templates.cmake
            COMMENT "Embedding templates" VERBATIM)
        set(${output_variable} ${output} PARENT_SCOPE)
    endfunction()
    return()
endif()

# A compiler need not take string literals longer than 64 KiB: a file becomes several, which the compiler joins after all.
set(chunk_length 8192)

file(GLOB_RECURSE files RELATIVE ${TEMPLATES} ${TEMPLATES}/*.cu ${TEMPLATES}/*.cuh)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
    file(READ ${TEMPLATES}/${file} text)
    string(APPEND entries "    files.emplace(\"${file}\", std::string()")
    string(LENGTH "${text}" length)
    set(begin 0)
    while(begin LESS length)
        string(SUBSTRING "${text}" ${begin} ${chunk_length} chunk)
        string(APPEND entries "\n        .append(R\"JITGEMM(${chunk})JITGEMM\")")
        math(EXPR begin "${begin} + ${chunk_length}")
    endwhile()
    string(APPEND entries ");\n")
endforeach()

file(WRITE ${OUTPUT} "// Written by cmake/embed_templates.cmake.
#include \"generator/renderer.hpp\"

namespace jitgemm {
namespace {

std::map<std::string, std::string, std::less<>> embedded_files() {
    std::map<std::string, std::string, std::less<>> files;
${entries}    return files;
}

}  // namespace

const TemplateSet& TemplateSet::embedded() {
    static const TemplateSet templates(embedded_files());
    return templates;
}

}  // namespace jitgemm
")
