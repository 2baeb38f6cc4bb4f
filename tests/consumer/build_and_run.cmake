# cmake -P: installs BUILD into a fresh prefix, then packs it and unpacks the tarball elsewhere. The project in CONSUMER
# is built and run against both, as a user would. Installed files must work where they lie, and leave the build folder
# alone.

set(work ${BUILD}/consumer)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(output_of variable)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(${variable} "${output}" PARENT_SCOPE)
endfunction()

function(build_and_run_consumer prefix name)
    run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${work}/${name} -G ${GENERATOR}
        -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release)
    run(${CMAKE_COMMAND} --build ${work}/${name})
    run(${work}/${name}/consumer)
    run(${work}/${name}/consumer_c)
endfunction()

# As a build without CMake does. A Requires of the file needs SQLite's own.
find_program(PKG_CONFIG pkg-config)
function(build_and_run_with_pkg_config prefix name)
    if(NOT PKG_CONFIG)
        message(STATUS "pkg-config is not installed: jitgemm.pc is not tried")
        return()
    endif()
    file(GLOB_RECURSE description ${prefix}/*/jitgemm.pc)
    get_filename_component(folder "${description}" DIRECTORY)
    output_of(flags ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} --cflags --libs jitgemm)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(${COMPILER} -std=c++20 ${CONSUMER}/consumer.cpp ${flags} -o ${work}/${name})
    run(${work}/${name})
    output_of(flags ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} --cflags --libs jitgemm-c)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(cc -std=c99 ${CONSUMER}/consumer.c ${flags} -o ${work}/${name}_c)
    run(${work}/${name}_c)
endfunction()

# One message, not a hundred about what C++17 lacks.
function(expect_refusal_of_cpp17 prefix)
    execute_process(COMMAND ${COMPILER} -std=c++17 -fsyntax-only -I${prefix}/include ${CONSUMER}/consumer.cpp
                    RESULT_VARIABLE status ERROR_VARIABLE said)
    if(status EQUAL 0 OR NOT said MATCHES "jitgemm needs C\\+\\+20" OR said MATCHES "span")
        message(FATAL_ERROR "a program in C++17 is told:\n${said}")
    endif()
endfunction()

# ---- cmake --install ------------------------------------------------------------------------------------------------

# Other tests may write beside: only what an install could have written counts. The manifest is CMake's own.
function(expect_untouched_since marker)
    output_of(touched find ${BUILD} -type f -newer ${marker} -not -name "install_manifest*.txt"
              -not -path "${work}/*" -not -path "*/Testing/*" -not -path "*/tests/*")
    if(touched)
        message(FATAL_ERROR "installing wrote into the build folder:\n${touched}")
    endif()
endfunction()

file(TOUCH ${work}/before)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
expect_untouched_since(${work}/before)
build_and_run_consumer(${work}/prefix installed)
build_and_run_with_pkg_config(${work}/prefix installed_pc)
expect_refusal_of_cpp17(${work}/prefix)

# ---- no foreign names in the libraries ------------------------------------------------------------------------------

# An application may bring another spdlog; what has a version in its namespace cannot be taken for another.
file(GLOB_RECURSE libraries ${work}/prefix/*.a)
foreach(library IN LISTS libraries)
    output_of(symbols nm --demangle --defined-only --extern-only ${library})
    string(REGEX MATCHALL "[^\n]*[ (<]spdlog::[^\n]*" foreign "${symbols}")
    if(foreign)
        list(GET foreign 0 first)
        message(FATAL_ERROR "${library} defines names of spdlog's own, such as ${first}")
    endif()
endforeach()

# ---- the tarball ----------------------------------------------------------------------------------------------------

execute_process(COMMAND bash ${SCRIPTS}/package.sh --build ${BUILD} --output ${work}/packed
                RESULT_VARIABLE status ERROR_VARIABLE said)
if(status AND said MATCHES "needs glibc")    # only a system as old as the oldest one served can make it
    message(STATUS "no tarball is made here: ${said}")
    return()
elseif(status)
    message(FATAL_ERROR "${said}")
endif()
file(GLOB tarball ${work}/packed/jitgemm-*-linux-*.tar.gz)
file(MAKE_DIRECTORY ${work}/elsewhere)
run(${CMAKE_COMMAND} -E chdir ${work}/elsewhere tar --extract --strip-components=1 --file ${tarball})
file(REMOVE_RECURSE ${work}/prefix)     # nothing may lead back to it

set(tool ${CMAKE_COMMAND} -E env JITGEMM_CACHE_DIR=${work}/cache JITGEMM_TUNING_DIR=${work}/tuning
         ${work}/elsewhere/bin/jitgemm)
output_of(version ${tool} --version)
if(NOT tarball MATCHES "jitgemm-[0-9.]+-linux" OR NOT version MATCHES "^jitgemm [0-9.]+$")
    message(FATAL_ERROR "version '${version}' of ${tarball}")
endif()
output_of(kernels ${tool} list bf16 tn 1000 777 555 --gpu a100)
output_of(source ${tool} dump bf16 tn 1000 777 555 --gpu a100)
if(NOT kernels MATCHES "mma_multistage" OR NOT source MATCHES "__global__")
    message(FATAL_ERROR "the unpacked tool lists '${kernels}' and dumps '${source}'")
endif()
foreach(file include/jitgemm/jitgemm.hpp include/jitgemm/jitgemm.h share/doc/jitgemm/examples/c/gemm.c
        share/doc/jitgemm/README.md share/doc/jitgemm/docs/cli.md)
    if(NOT EXISTS ${work}/elsewhere/${file})
        message(FATAL_ERROR "the tarball has no ${file}")
    endif()
endforeach()
build_and_run_consumer(${work}/elsewhere unpacked)
build_and_run_with_pkg_config(${work}/elsewhere unpacked_pc)
