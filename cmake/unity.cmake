# Several .cpp are compiled as one unit: fmt, nlohmann-json and CLI11 are then instantiated once per unit and no
# longer in every file, which took four fifths of a build. Names in anonymous namespaces are therefore unique within a
# folder.

option(JITGEMM_UNITY "Compile the files of a folder together; OFF compiles each alone" ON)
set(JITGEMM_UNITY_FILES 12 CACHE STRING "Files per unit at most: a change of one recompiles its unit")

# jitgemm_unity(<target> [ALONE <prefix>...]): files of one folder share units, in the order of their names; those whose
# names begin with a prefix of ALONE (one instruction class each, with its own small names) share with none.
function(jitgemm_unity target)
    cmake_parse_arguments(PARSE_ARGV 1 files "" "" "ALONE")
    if(NOT JITGEMM_UNITY)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(SORT sources)
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        cmake_path(GET source STEM stem)
        cmake_path(GET folder STEM group)
        set(alone OFF)
        foreach(prefix IN LISTS files_ALONE)
            if(stem MATCHES "^${prefix}")
                set(alone ON)
            endif()
        endforeach()
        if(alone)
            continue()
        endif()
        if(DEFINED count_${group})
            math(EXPR count_${group} "${count_${group}} + 1")
        else()
            set(count_${group} 0)
        endif()
        math(EXPR unit "${count_${group}} / ${JITGEMM_UNITY_FILES}")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${group}_${unit}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # A private Impl may hold types of its .cpp's anonymous namespace; g++ takes the .cpp for a header here, and warns.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
