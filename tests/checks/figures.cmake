# The figures of the READMEs and the page of records are those of the records.
find_program(LSP_PYTHON3 python3)
if(LSP_PYTHON3 AND TARGET sparse-bench)
  add_test(NAME check_figures COMMAND ${CMAKE_CURRENT_LIST_DIR}/figures.sh)
  set_tests_properties(check_figures PROPERTIES LABELS "quick;bench" TIMEOUT 60 ENVIRONMENT
    "SOURCE=${PROJECT_SOURCE_DIR};BENCH=$<TARGET_FILE:sparse-bench>;WORK=${CMAKE_CURRENT_BINARY_DIR}/check_figures")
endif()
