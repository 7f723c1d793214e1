# What the sources and pages say of each other: links and file names in Markdown pages, what every room must have, names that stand twice,
# the API reference.
foreach(check docs rooms names api)
  add_test(NAME check_${check} COMMAND ${CMAKE_CURRENT_LIST_DIR}/${check}.sh)
  set_tests_properties(check_${check} PROPERTIES LABELS quick TIMEOUT 60 ENVIRONMENT SOURCE=${PROJECT_SOURCE_DIR})
endforeach()
