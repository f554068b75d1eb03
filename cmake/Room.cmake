# ringkv_room(NAME ARROWS …): a room is an object library of all sources in its folder. ARROWS are the rooms that it may
# include; tests/layering_test.cc checks them too, since include paths alone don't stop a reversed arrow.
function(ringkv_room name)
  cmake_parse_arguments(ROOM "" "" "ARROWS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_library(ringkv_${name} OBJECT ${sources})
  target_include_directories(ringkv_${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
  foreach(arrow IN LISTS ROOM_ARROWS)
    target_link_libraries(ringkv_${name} PUBLIC ringkv_${arrow})
  endforeach()
endfunction()
