# cmake --install: static libraries, the public header with the three it includes, a package for find_package(jitgemm) and one for
# pkg-config, docs.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(jitgemm_generator PROPERTIES EXPORT_NAME generator)
install(TARGETS jitgemm jitgemm_generator EXPORT jitgemmTargets)

# In the sources, includes are relative to the repository; installed, they are relative to include/. Written straight to
# where they go: a build folder may be read-only by then, or somebody else's.
set(public_headers runtime/jitgemm.hpp runtime/jitgemm_peer.h generator/error.hpp generator/gemm_spec.hpp generator/data_type.hpp)
install(CODE "
    set(include_directory \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/jitgemm\")
    foreach(header ${public_headers})
        file(READ \"${PROJECT_SOURCE_DIR}/\${header}\" text)
        string(REPLACE \"#include \\\"generator/\" \"#include \\\"jitgemm/generator/\" text \"\${text}\")
        string(REPLACE \"runtime/\" \"\" header \"\${header}\")
        set(installed \"\$ENV{DESTDIR}\${include_directory}/\${header}\")
        message(STATUS \"Installing: \${installed}\")
        file(WRITE \"\${installed}\" \"\${text}\")
        file(CHMOD \"\${installed}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${include_directory}/\${header}\")
    endforeach()")

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/jitgemm)
install(EXPORT jitgemmTargets NAMESPACE jitgemm:: DESTINATION ${package_directory})
configure_package_config_file(cmake/jitgemmConfig.cmake.in jitgemmConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(jitgemmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jitgemmConfig.cmake ${PROJECT_BINARY_DIR}/jitgemmConfigVersion.cmake
        DESTINATION ${package_directory})

# For builds without CMake: pkg-config --cflags --libs jitgemm
set(pc_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix /${pc_directory} /)
configure_file(cmake/jitgemm.pc.in jitgemm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/jitgemm.pc DESTINATION ${pc_directory})

install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})    # as README.md links to it
