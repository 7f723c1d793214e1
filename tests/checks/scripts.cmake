# Tests the README's two commands with stand-ins for cmake and ctest, and a build with a user's compiler flags.
find_program(LSP_BASH bash)
if(LSP_BASH AND TARGET spgemm-cli AND CMAKE_GENERATOR STREQUAL "Ninja" AND NOT LSP_SANITIZE)
  foreach(part no_tests presets demo flags)
    add_test(NAME scripts_${part} COMMAND ${LSP_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/checks/scripts.sh ${part})
    set_tests_properties(scripts_${part} PROPERTIES LABELS quick TIMEOUT 120
      ENVIRONMENT "CC=${CMAKE_C_COMPILER};CLI=$<TARGET_FILE:spgemm-cli>;CMAKE=${CMAKE_COMMAND};SOURCE=${PROJECT_SOURCE_DIR};WORK=${CMAKE_CURRENT_BINARY_DIR}/scripts_${part}")
  endforeach()
endif()
