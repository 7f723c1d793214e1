# The threaded parts under ThreadSanitizer. OpenMP's own synchronisation is told to it by archer, which comes with
# LLVM's runtime. Without a sanitizer the same program is run for its comparisons alone.
if(LSP_SANITIZE AND NOT LSP_SANITIZE MATCHES "thread")
  return()
endif()
add_executable(threads tsan/threads.c)
target_link_libraries(threads PRIVATE libsparse_static lsp_flags OpenMP::OpenMP_C ZLIB::ZLIB m)
add_test(NAME threads COMMAND threads)
set_tests_properties(threads PROPERTIES LABELS slow)
if(NOT LSP_SANITIZE)
  return()
endif()
add_executable(race tsan/race.c)
target_link_libraries(race PRIVATE lsp_flags OpenMP::OpenMP_C)
add_test(NAME threads_race_is_seen COMMAND race)
find_file(LSP_ARCHER libarcher.so HINTS ${LSP_OPENMP_DIR} REQUIRED)
set_tests_properties(threads threads_race_is_seen PROPERTIES TIMEOUT 600 LABELS slow
  ENVIRONMENT "OMP_TOOL_LIBRARIES=${LSP_ARCHER};TSAN_OPTIONS=ignore_noninstrumented_modules=1 exitcode=66")
set_tests_properties(threads_race_is_seen PROPERTIES
  PASS_REGULAR_EXPRESSION "the race begins.*data race" FAIL_REGULAR_EXPRESSION "data race.*the race begins")
