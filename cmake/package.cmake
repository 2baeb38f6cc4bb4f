# cmake --install: static libraries, libjitgemm.so, the public headers, a package for find_package(jitgemm) and two for
# pkg-config, docs, examples.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(jitgemm_generator PROPERTIES EXPORT_NAME generator)
install(TARGETS jitgemm jitgemm_generator jitgemm_c EXPORT jitgemmTargets)

install(DIRECTORY include/jitgemm TYPE INCLUDE)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/jitgemm)
install(EXPORT jitgemmTargets NAMESPACE jitgemm:: DESTINATION ${package_directory})
configure_package_config_file(cmake/jitgemmConfig.cmake.in jitgemmConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(jitgemmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jitgemmConfig.cmake ${PROJECT_BINARY_DIR}/jitgemmConfigVersion.cmake
        DESTINATION ${package_directory})

# For builds without CMake: pkg-config --cflags --libs jitgemm (C++), or jitgemm-c
set(pc_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix /${pc_directory} /)
configure_file(cmake/jitgemm.pc.in jitgemm.pc @ONLY)
configure_file(cmake/jitgemm-c.pc.in jitgemm-c.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/jitgemm.pc ${PROJECT_BINARY_DIR}/jitgemm-c.pc DESTINATION ${pc_directory})

install(FILES README.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})    # as README.md links to them
