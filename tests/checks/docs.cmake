# Links and file names in the READMEs and in docs/.
add_test(NAME check_docs COMMAND ${CMAKE_CURRENT_LIST_DIR}/docs.sh)
set_tests_properties(check_docs PROPERTIES LABELS quick TIMEOUT 60 ENVIRONMENT SOURCE=${PROJECT_SOURCE_DIR})
