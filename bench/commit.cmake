# Writes HEADER with the commit of SOURCE, the compiler and the build type. An unchanged header keeps its time, so that
# nothing is compiled again.
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
