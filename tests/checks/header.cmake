# The public header, alone, as C99 and as C++11.
set(header ${PROJECT_SOURCE_DIR}/include/libsparse.h)
set(strict -pedantic -Wall -Wextra -Werror -fsyntax-only)
add_test(NAME header_c99 COMMAND ${CMAKE_C_COMPILER} -x c -std=c99 ${strict} -Wstrict-prototypes ${header})
find_program(LSP_CXX NAMES ${CMAKE_CXX_COMPILER} g++ clang++ c++ DOC "Compiler for the C++ tests")
if(LSP_CXX)
  add_test(NAME header_cxx11 COMMAND ${LSP_CXX} -x c++ -std=c++11 ${strict} ${header})
endif()
