# Tests the README's two commands with stand-ins for cmake and ctest, and configurations: with a user's compiler flags,
# with a peer that does not compile, with an older CUDA compiler.
find_program(LSP_BASH bash)
if(LSP_BASH AND TARGET spgemm-cli AND CMAKE_GENERATOR STREQUAL "Ninja" AND NOT LSP_SANITIZE)
  set(parts no_tests skipped presets demo peers flags)
  if(LSP_HAVE_CUDA AND NOT LSP_EMULATED)
    list(APPEND parts architectures)
  endif()
  foreach(part IN LISTS parts)
    add_test(NAME scripts_${part} COMMAND ${LSP_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/checks/scripts.sh ${part})
    set_tests_properties(scripts_${part} PROPERTIES LABELS quick TIMEOUT 120
      ENVIRONMENT "CC=${CMAKE_C_COMPILER};NVCC=${CMAKE_CUDA_COMPILER};CLI=$<TARGET_FILE:spgemm-cli>;CMAKE=${CMAKE_COMMAND};SOURCE=${PROJECT_SOURCE_DIR};WORK=${CMAKE_CURRENT_BINARY_DIR}/scripts_${part}")
  endforeach()
endif()
