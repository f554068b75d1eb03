include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS ringkv EXPORT ringkvTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(RINGKV_BUILD_TOOLS)
  install(TARGETS ringkv_simulation ringkv_command_line EXPORT ringkvTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/ringkv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT ringkvTargets NAMESPACE ringkv:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringkv)
configure_package_config_file(cmake/ringkvConfig.cmake.in ${CMAKE_BINARY_DIR}/ringkvConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringkv)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ringkvConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ringkvConfig.cmake ${CMAKE_BINARY_DIR}/ringkvConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ringkv)
