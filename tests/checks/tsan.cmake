# Runs the library's threads under the thread sanitizer (preset tsan). Builds without a sanitizer run the same program
# only to compare results. Builds with another sanitizer skip it, because they are slow already.
if(LSP_SANITIZE AND NOT LSP_SANITIZE MATCHES "thread")
  return()
endif()
add_executable(threads tsan/threads.c tsan/arrays.c tsan/regions.c)
target_link_libraries(threads PRIVATE libsparse_static lsp_flags OpenMP::OpenMP_C ZLIB::ZLIB m)
add_test(NAME threads COMMAND threads)
set_tests_properties(threads PROPERTIES TIMEOUT 600 LABELS slow)
if(NOT LSP_SANITIZE)
  return()
endif()
add_executable(race tsan/race.c)
target_link_libraries(race PRIVATE lsp_flags Threads::Threads)
add_test(NAME threads_race_is_seen COMMAND race)
set_tests_properties(threads_race_is_seen PROPERTIES TIMEOUT 60 LABELS slow
  PASS_REGULAR_EXPRESSION "the race begins.*data race" FAIL_REGULAR_EXPRESSION "data race.*the race begins")
