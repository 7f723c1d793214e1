# The Python package: its tests and doctests on the library of this build, and a wheel around it in an environment of
# its own. They need a Python that has NumPy, SciPy and pytest.
if(LSP_SANITIZE OR LSP_COVERAGE OR NOT LSP_TOOLS)
  return()
endif()
set(LSP_TEST_PYTHON "")
foreach(candidate python3 /usr/bin/python3)
  execute_process(COMMAND ${candidate} -c "import numpy, pytest, scipy, venv" RESULT_VARIABLE missing
                  OUTPUT_QUIET ERROR_QUIET)
  if(missing EQUAL 0)
    set(LSP_TEST_PYTHON ${candidate})
    break()
  endif()
endforeach()
if(NOT LSP_TEST_PYTHON)
  message(STATUS "No Python with NumPy, SciPy and pytest: its package is not tested")
  return()
endif()
if(NOT TARGET python)
  add_subdirectory(${PROJECT_SOURCE_DIR}/python ${PROJECT_BINARY_DIR}/python)
endif()
set(folder ${PROJECT_SOURCE_DIR}/python/tests)
add_test(NAME python_tests COMMAND ${LSP_TEST_PYTHON} -m pytest -q -p no:cacheprovider --doctest-modules
         ${PROJECT_BINARY_DIR}/python/segsparse ${folder})
add_test(NAME python_wheel COMMAND ${folder}/try-wheel ${CMAKE_CURRENT_BINARY_DIR}/wheel $<TARGET_FILE:libsparse>)
set_tests_properties(python_tests python_wheel PROPERTIES LABELS "python;slow" TIMEOUT 600 RESOURCE_LOCK gpu
  SKIP_RETURN_CODE 77 ENVIRONMENT
  "PYTHON=${LSP_TEST_PYTHON};CC=${CMAKE_C_COMPILER};PYTHONDONTWRITEBYTECODE=1")
set_property(TEST python_tests APPEND PROPERTY ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
