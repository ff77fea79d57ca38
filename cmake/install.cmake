# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# The install rules: library, headers, CMake package and pkg-config file. All paths inside are relative to the installed
# files, so that the prefix can be moved.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/addnorm)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS addnorm EXPORT addnormTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/addnorm TYPE INCLUDE)
install(FILES LICENSE NOTICE TYPE DOC)

install(EXPORT addnormTargets NAMESPACE addnorm:: DESTINATION ${package_dir})
configure_package_config_file(cmake/addnormConfig.cmake.in addnormConfig.cmake INSTALL_DESTINATION ${package_dir})
# 0.x: a minor version may break its callers.
write_basic_package_version_file(addnormConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/addnormConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/addnormConfigVersion.cmake
  DESTINATION ${package_dir})

cmake_path(ABSOLUTE_PATH pkgconfig_dir BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pkgconfig_full_dir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${pkgconfig_full_dir} OUTPUT_VARIABLE libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${pkgconfig_full_dir} OUTPUT_VARIABLE includedir)
set(requires_private "")
if(ADDNORM_SYSTEM_HIGHWAY)
  set(requires_private libhwy)
endif()
configure_file(cmake/addnorm.pc.in addnorm.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/addnorm.pc DESTINATION ${pkgconfig_dir})
