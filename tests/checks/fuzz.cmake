# Every build replays the corpus of every fuzz target. With -DLSP_FUZZ=ON and clang, libFuzzer also searches for one
# minute. To search longer, run: build/fuzz/tests/fuzz_mtx tests/fuzz/corpus_mtx
foreach(target mtx points)
  add_executable(replay_${target} fuzz/fuzz_${target}.c fuzz/replay.c)
  add_test(NAME replay_${target} COMMAND replay_${target} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus_${target})
  set(room matrices)
  if(target STREQUAL "points")
    set(room cli)
  endif()
  set_tests_properties(replay_${target} PROPERTIES LABELS "${room};quick")
  set(fuzz_programs replay_${target})
  if(LSP_FUZZ)
    add_executable(fuzz_${target} fuzz/fuzz_${target}.c)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    list(APPEND fuzz_programs fuzz_${target})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/found_${target})
    add_test(NAME fuzz_${target} COMMAND fuzz_${target} -max_total_time=60 -timeout=20 -rss_limit_mb=4096
             -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${CMAKE_CURRENT_BINARY_DIR}/found_${target}
             ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus_${target}) # new inputs go to the first folder
    set_tests_properties(fuzz_${target} PROPERTIES LABELS slow TIMEOUT 300)
  endif()
  foreach(program IN LISTS fuzz_programs)
    target_link_libraries(${program} PRIVATE libsparse_static lsp_flags OpenMP::OpenMP_C ZLIB::ZLIB m)
    if(target STREQUAL "points")
      target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cli/two_body/formats.c
                     ${PROJECT_SOURCE_DIR}/cli/two_body/reader.c
                     ${PROJECT_SOURCE_DIR}/cli/two_body/atoms.c ${PROJECT_SOURCE_DIR}/cli/two_body/numbers.c)
      target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/cli/two_body)
    endif()
  endforeach()
endforeach()
