# spgemm-cli, cg-bench, two-body and suffix-array from a user's side: shell scripts, each a ctest, and a helper for programs that a bare machine may lack.
if(NOT TARGET spgemm-cli)
  return()
endif()
find_program(LSP_BASH bash)
if(NOT LSP_BASH)
  message(STATUS "no bash: the tools are not tested")
  return()
endif()
add_executable(cli_helper cli/helper.c)
target_link_libraries(cli_helper PRIVATE lsp_flags)
# preloaded before the library: makes calls of the library fail
add_library(cli_fake MODULE cli/fake.c)
target_compile_definitions(cli_fake PRIVATE _GNU_SOURCE)
target_include_directories(cli_fake PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(cli_fake PRIVATE ${CMAKE_DL_LIBS})

set(parts usage product filter devices files report real completion cg_usage cg_benchmark cg_solve cg_files two_body
    two_body_usage two_body_files suffix_array)
if(TARGET sparse-bench)
  list(APPEND parts bench)
endif()
if(NOT LSP_SANITIZE) # a sanitizer reserves more address space than the test leaves
  list(APPEND parts threads)
endif()
foreach(part IN LISTS parts)
  set(tool spgemm-cli)
  if(part MATCHES "^cg_")
    set(tool cg-bench)
  elseif(part MATCHES "^two_body")
    set(tool two-body)
  elseif(part STREQUAL "suffix_array")
    set(tool suffix-array)
  endif()
  add_test(NAME cli_${part} COMMAND ${LSP_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/cli/${part}.sh)
  set_tests_properties(cli_${part} PROPERTIES LABELS "cli;quick" TIMEOUT 300 SKIP_RETURN_CODE 77)
  set_property(TEST cli_${part} PROPERTY ENVIRONMENT
    CLI=$<TARGET_FILE:${tool}> HELPER=$<TARGET_FILE:cli_helper> FAKE=$<TARGET_FILE:cli_fake>
    SOURCE=${PROJECT_SOURCE_DIR} MATRICES=${PROJECT_SOURCE_DIR}/../shared/matrices
    WORK=${CMAKE_CURRENT_BINARY_DIR}/cli_${part} $<$<STREQUAL:${part},bench>:BENCH=$<TARGET_FILE:sparse-bench>>)
endforeach()
