add_test(NAME exports_reserved
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/checks/exports.sh reserved ${PROJECT_SOURCE_DIR}/include/libsparse)
set_tests_properties(exports_reserved PROPERTIES LABELS quick)
# The library, the headers and exports.txt must name the same functions. Add new ones to exports.txt.
foreach(what library headers)
  set(file ${PROJECT_SOURCE_DIR}/include)
  if(what STREQUAL "library")
    set(file $<TARGET_FILE:libsparse>)
  endif()
  add_test(NAME exports_${what} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/checks/exports.sh ${what} ${file}
                                        ${CMAKE_CURRENT_SOURCE_DIR}/checks/exports.txt)
  set_tests_properties(exports_${what} PROPERTIES LABELS quick)
endforeach()
