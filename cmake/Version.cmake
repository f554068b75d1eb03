# The one version: project(VERSION) and the commit, written to version.cc at each build that finds a new commit.
set(RINGKV_VERSION_SOURCE ${CMAKE_BINARY_DIR}/generated/version.cc)
add_custom_target(ringkv_version
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR} -D OUTPUT=${RINGKV_VERSION_SOURCE}
          -D VERSION=${PROJECT_VERSION} -P ${CMAKE_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS ${RINGKV_VERSION_SOURCE})
