# Arrows between files go down only: see arrows.sh. It reads object files, so every kind of build adds its own.
find_program(LSP_BASH bash)
if(LSP_BASH AND NOT LSP_SANITIZE AND NOT LSP_COVERAGE)
  set(objects ${lsp_all_objects})
  foreach(tool spgemm-cli cg-bench two-body suffix-array cli_shared sparse-bench peer_cusparse)
    if(TARGET ${tool})
      list(APPEND objects $<TARGET_OBJECTS:${tool}>)
    endif()
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/objects.txt CONTENT "$<JOIN:${objects},\n>\n")
  add_test(NAME check_arrows COMMAND ${LSP_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/checks/arrows.sh ${PROJECT_SOURCE_DIR}
                                     ${CMAKE_CURRENT_BINARY_DIR}/objects.txt)
  set_tests_properties(check_arrows PROPERTIES LABELS quick)
endif()
