# cmake --install: static libraries, the public header with the three it includes, and a package for find_package(jitgemm).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(jitgemm_generator PROPERTIES EXPORT_NAME generator)
install(TARGETS jitgemm jitgemm_generator EXPORT jitgemmTargets)

# In the sources, includes are relative to the repository; installed, they are relative to include/.
set(public_headers runtime/jitgemm.hpp runtime/jitgemm_peer.h generator/error.hpp generator/gemm_spec.hpp generator/data_type.hpp)
install(CODE "
    foreach(header ${public_headers})
        file(READ \"${PROJECT_SOURCE_DIR}/\${header}\" text)
        string(REPLACE \"#include \\\"generator/\" \"#include \\\"jitgemm/generator/\" text \"\${text}\")
        string(REPLACE \"runtime/\" \"\" installed \"\${header}\")
        file(WRITE \"${PROJECT_BINARY_DIR}/installed_headers/\${installed}\" \"\${text}\")
    endforeach()")
install(DIRECTORY ${PROJECT_BINARY_DIR}/installed_headers/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/jitgemm)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/jitgemm)
install(EXPORT jitgemmTargets NAMESPACE jitgemm:: DESTINATION ${package_directory})
configure_package_config_file(cmake/jitgemmConfig.cmake.in jitgemmConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(jitgemmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jitgemmConfig.cmake ${PROJECT_BINARY_DIR}/jitgemmConfigVersion.cmake
        DESTINATION ${package_directory})
