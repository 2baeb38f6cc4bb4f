# Third-party code, all from the distribution and compiled into our libraries: nothing but glibc stays a shared library.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(JITGEMM_XXHASH_INCLUDE xxhash.h REQUIRED)

# spdlog's own targets would link libfmt.so and libspdlog.so.
get_target_property(spdlog_include spdlog::spdlog_header_only INTERFACE_INCLUDE_DIRECTORIES)
add_library(jitgemm_third_party INTERFACE)
target_include_directories(jitgemm_third_party SYSTEM INTERFACE ${spdlog_include} ${JITGEMM_XXHASH_INCLUDE})
target_compile_definitions(jitgemm_third_party INTERFACE SPDLOG_FMT_EXTERNAL XXH_INLINE_ALL=)
target_link_libraries(jitgemm_third_party INTERFACE nlohmann_json::nlohmann_json Threads::Threads)

# fmt::fmt would link libfmt.so as well. Sets fmt_source, which goes into the library that all others link.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
    get_target_property(fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(jitgemm_third_party SYSTEM INTERFACE ${fmt_include})
    set(fmt_source ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp)
else()
    target_link_libraries(jitgemm_third_party INTERFACE fmt::fmt-header-only)
    set(fmt_source "")
endif()

# SQLite::SQLite3, from libsqlite3.a where there is one, so that it stays no shared library either.
set(library_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES ${CMAKE_STATIC_LIBRARY_SUFFIX})
find_package(SQLite3 3.35 REQUIRED)     # RETURNING
set(CMAKE_FIND_LIBRARY_SUFFIXES ${library_suffixes})

# Headers alone: cuda.h (of the toolkit, or of the wheel nvidia-cuda-runtime) and nvrtc.h (nvidia-cuda-nvrtc).
find_package(CUDAToolkit 12.4 QUIET)
set(cuda_hints ${JITGEMM_CUDA_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
set(cuda_paths ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda)
find_path(JITGEMM_CUDA_H cuda.h HINTS ${cuda_hints} PATHS ${cuda_paths} PATH_SUFFIXES include)
find_path(JITGEMM_NVRTC_H nvrtc.h HINTS ${cuda_hints} PATHS ${cuda_paths} PATH_SUFFIXES include)

if(JITGEMM_CUDA_H AND JITGEMM_NVRTC_H)
    add_library(jitgemm_cuda_headers INTERFACE)
    target_include_directories(jitgemm_cuda_headers SYSTEM INTERFACE ${JITGEMM_CUDA_H} ${JITGEMM_NVRTC_H})
else()
    message(WARNING "No cuda.h and nvrtc.h: only the generator and its tests are built. "
                    "Install a CUDA toolkit (12.4 or newer), or set JITGEMM_CUDA_INCLUDE to the include folders of "
                    "its wheels.")
endif()
