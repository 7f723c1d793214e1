# Writes HEADER: the commit of SOURCE, and how it was built. Left alone when nothing has changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#define BENCH_COMMIT "@commit@"
#define BENCH_COMPILER "@COMPILER@"
#define BENCH_BUILD_TYPE "@BUILD_TYPE@"
]])
