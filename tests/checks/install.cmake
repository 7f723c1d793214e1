# Tests the installed library with a project outside this tree. A build with a sanitizer skips these tests, because that
# project would need the sanitizer too.
if(LSP_SANITIZE OR LSP_COVERAGE)
  return()
endif()
find_program(LSP_CXX NAMES ${CMAKE_CXX_COMPILER} g++ clang++ c++ DOC "Compiler for the C++ tests")
set(parts cmake pkg-config prefix uninstall)
find_program(LSP_DPKG dpkg-deb)
if(TARGET spgemm-cli AND TARGET sparse-bench)
  list(APPEND parts tools own)
  if(LSP_DPKG)
    list(APPEND parts packages)
  endif()
endif()
foreach(part install ${parts})
  add_test(NAME consumer_${part} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/consumer/try ${part} ${PROJECT_BINARY_DIR}
                                ${CMAKE_CURRENT_BINARY_DIR}/consumer $<$<BOOL:${LSP_CXX}>:${LSP_CXX}>)
  set_tests_properties(consumer_${part} PROPERTIES LABELS slow TIMEOUT 600 FIXTURES_REQUIRED stage
    ENVIRONMENT "NVCC=$<$<BOOL:${LSP_HAVE_CUDA}>:${CMAKE_CUDA_COMPILER}>;CC=${CMAKE_C_COMPILER};CMAKE_GENERATOR=${CMAKE_GENERATOR}")
endforeach()
set_tests_properties(consumer_install PROPERTIES FIXTURES_SETUP stage FIXTURES_REQUIRED "")
