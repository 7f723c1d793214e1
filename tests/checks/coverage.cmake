# Target `coverage`: runs all tests and reports which lines they executed, by file, in coverage.txt and html.
if(NOT LSP_COVERAGE)
  return()
endif()
find_program(LSP_GCOVR gcovr REQUIRED)
set(gcov gcov)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  set(gcov "llvm-cov gcov")
endif()
list(JOIN LSP_ROOMS | rooms)
add_custom_target(coverage
  COMMAND find ${PROJECT_BINARY_DIR} -name *.gcda -delete
  COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${PROJECT_BINARY_DIR} --output-on-failure
  # gcovr 5 fails if one line of a template defines functions of several types
  COMMAND ${CMAKE_COMMAND} -E env PYTHONOPTIMIZE=1 ${LSP_GCOVR} --root ${PROJECT_SOURCE_DIR} --object-directory ${PROJECT_BINARY_DIR} --gcov-executable ${gcov}
          --filter "(${rooms}|cli)/" --exclude-unreachable-branches
          --txt ${PROJECT_BINARY_DIR}/coverage.txt --html-details ${PROJECT_BINARY_DIR}/coverage.html
          --print-summary
  COMMAND cat ${PROJECT_BINARY_DIR}/coverage.txt
  USES_TERMINAL VERBATIM COMMENT "Running the tests and counting lines")
