# Peers that are vectorised sorts. Their packages are often old, so each can be compiled from its sources instead, for
# this machine. Nothing is downloaded, and the sources stay where they are.
set(LSP_HIGHWAY "" CACHE PATH "Sources of Highway; sparse-bench measures their vqsort, not the installed one")
set(LSP_X86_SIMD_SORT "" CACHE PATH "Sources of x86-simd-sort, which sparse-bench measures")

# Sets `version` to the answer of `git describe` in the folder of the sources; empty if that is no git repository.
function(source_version folder version)
  execute_process(COMMAND git -C ${folder} describe --tags --always OUTPUT_VARIABLE described RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed OR NOT EXISTS ${folder}/.git)
    set(described "")
  endif()
  set(${version} "${described}" PARENT_SCOPE)
endfunction()

if(LSP_HIGHWAY)
  set(hwy_sources hwy/contrib/sort/vqsort.cc hwy/contrib/sort/vqsort_u32a.cc hwy/contrib/sort/vqsort_u64a.cc
                  hwy/contrib/sort/vqsort_kv128a.cc hwy/aligned_allocator.cc hwy/per_target.cc hwy/targets.cc)
  foreach(newer hwy/abort.cc hwy/contrib/sort/vqsort_have.cc)
    if(EXISTS ${LSP_HIGHWAY}/${newer})
      list(APPEND hwy_sources ${newer})
    endif()
  endforeach()
  list(TRANSFORM hwy_sources PREPEND ${LSP_HIGHWAY}/)
  if(NOT EXISTS ${LSP_HIGHWAY}/hwy/contrib/sort/vqsort_kv128a.cc)
    message(FATAL_ERROR "LSP_HIGHWAY: no hwy/contrib/sort/vqsort_kv128a.cc in '${LSP_HIGHWAY}'")
  endif()
  add_library(bench_highway STATIC ${hwy_sources})
  target_include_directories(bench_highway SYSTEM PUBLIC ${LSP_HIGHWAY})
  target_compile_options(bench_highway PRIVATE -w -DHWY_COMPILE_ONLY_STATIC $<$<BOOL:${LSP_HAVE_MARCH_NATIVE}>:-march=native>)
  set_target_properties(bench_highway PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
  source_version(${LSP_HIGHWAY} HWY_VERSION)
  set_property(SOURCE peers/vqsort.cpp APPEND PROPERTY COMPILE_OPTIONS -DHWY_COMPILE_ONLY_STATIC # one instruction set: no dispatch
               "-DBENCH_HWY_SOURCES=\"${HWY_VERSION}\"")
  bench_peer(HWY SOURCES peers/vqsort.cpp INCLUDE ${LSP_HIGHWAY} LIBRARIES bench_highway)
else()
  bench_find_peer(HWY peers/vqsort.cpp hwy/contrib/sort/vqsort.h hwy_contrib hwy)
endif()

if(LSP_X86_SIMD_SORT)
  if(NOT EXISTS ${LSP_X86_SIMD_SORT}/src/x86simdsort-static-incl.h)
    message(FATAL_ERROR "LSP_X86_SIMD_SORT: no src/x86simdsort-static-incl.h in '${LSP_X86_SIMD_SORT}'")
  endif()
  source_version(${LSP_X86_SIMD_SORT} XSS_VERSION)
  set_property(SOURCE peers/xss.cpp APPEND PROPERTY COMPILE_OPTIONS -w "-DBENCH_XSS_SOURCES=\"${XSS_VERSION}\"") # its headers, not ours
  bench_peer(XSS SOURCES peers/xss.cpp INCLUDE ${LSP_X86_SIMD_SORT}/src)
endif()
