# The public headers, each alone, as a caller includes it, as C99 and as C++11.
set(strict -pedantic -Wall -Wextra -Werror -fsyntax-only -I ${PROJECT_SOURCE_DIR}/include)
find_program(LSP_CXX NAMES ${CMAKE_CXX_COMPILER} g++ clang++ c++ DOC "Compiler for the C++ tests")
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/include/libsparse/*.h)
foreach(header IN LISTS headers)
  get_filename_component(name ${header} NAME_WE)
  add_test(NAME header_${name}_c99
           COMMAND ${CMAKE_C_COMPILER} -x c -std=c99 ${strict} -Wstrict-prototypes -include ${header} /dev/null)
  set_tests_properties(header_${name}_c99 PROPERTIES LABELS quick)
  if(LSP_CXX)
    add_test(NAME header_${name}_cxx11 COMMAND ${LSP_CXX} -x c++ -std=c++11 ${strict} -include ${header} /dev/null)
    set_tests_properties(header_${name}_cxx11 PROPERTIES LABELS quick)
  endif()
endforeach()
