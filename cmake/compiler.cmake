# How our own code is compiled: warnings are errors, sanitizers on request, ccache where it is installed.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()

# Linked PRIVATE by each of our targets; users of the library keep their own warning level.
add_library(jitgemm_warnings INTERFACE)
target_compile_options(jitgemm_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # The emulator's vectors of eight lanes are passed between functions of one file alone.
    target_compile_options(jitgemm_warnings INTERFACE -Wno-psabi)
endif()

if(JITGEMM_SANITIZE)
    # The instrumentation hides initialisations from g++, which then misreads the standard library's own headers; of
    # clang the loops that it keeps from being vectorised.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        set(misled_warning -Wno-pass-failed)
    else()
        set(misled_warning -Wno-error=maybe-uninitialized)
    endif()
    add_compile_options(-fsanitize=${JITGEMM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
                        ${misled_warning})
    # The address sanitizer finds wrong pointers too. These checks of them take a third of the time to compile.
    if(JITGEMM_SANITIZE MATCHES "address,undefined")
        add_compile_options(-fno-sanitize=null,object-size,pointer-overflow,vptr,alignment)
    endif()
    add_link_options(-fsanitize=${JITGEMM_SANITIZE})
endif()

# jitgemm_not_optimised_with_sanitizers(<target>): tests spend little time in it, and instrumented code takes a compiler
# twice as long at -O1 as at -O0.
function(jitgemm_not_optimised_with_sanitizers target)
    if(JITGEMM_SANITIZE)
        target_compile_options(${target} PRIVATE -O0)
    endif()
endfunction()

find_program(JITGEMM_CCACHE ccache)
if(JITGEMM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths below the repository count as relative, so that one clone's objects serve the next. CCACHE_SLOPPINESS lets
    # ccache serve precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${JITGEMM_CCACHE})
endif()
