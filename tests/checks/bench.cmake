# sparse-bench: runs each primitive with --quick and checks its exit code, its table and its JSON; checks its complaints
# about wrong words. tests/CMakeLists.txt includes this file, which adds the test that runs it as a script.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  if(TARGET sparse-bench)
    add_test(NAME check_bench COMMAND ${CMAKE_COMMAND} -DBENCH=$<TARGET_FILE:sparse-bench> -DCUDA=${LSP_HAVE_CUDA}
                                      -DPEERS=${LSP_BENCH_PEERS} -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/check_bench
                                      -P ${CMAKE_CURRENT_LIST_FILE})
    set_tests_properties(check_bench PROPERTIES LABELS "bench;slow" TIMEOUT 600 COST 100) # the longest starts first
  endif()
  return()
endif()

# bench(<exit code> <pattern that the output must match> arguments...)
function(bench code pattern)
  execute_process(COMMAND ${BENCH} ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err
                  WORKING_DIRECTORY ${FOLDER})
  string(JOIN " " command ${ARGN})
  if(NOT result EQUAL code OR NOT "${out}${err}" MATCHES "${pattern}")
    message(FATAL_ERROR "sparse-bench ${command}: exit code ${result} (expected ${code}), no '${pattern}' in\n${out}${err}")
  endif()
endfunction()

# must(<condition>...) fails the test if the condition is false.
macro(must)
  if(NOT (${ARGN}))
    message(FATAL_ERROR "${file}: not so: ${ARGN}")
  endif()
endmacro()

# The JSON has the format of Google Benchmark, each row is checked, and the first row is the library. ARGN: more fields
# that each row must have.
function(check_json file first_name)
  file(READ ${FOLDER}/${file} json)
  foreach(key date commit command device cpu threads num_cpus library_version copy_bytes_per_second peers
              processors_busy_for_others)
    string(JSON value GET "${json}" context ${key}) # fatal without it
  endforeach()
  string(JSON count LENGTH "${json}" benchmarks)
  must(count GREATER 1)
  string(JSON value GET "${json}" benchmarks 0 name)
  must(value STREQUAL first_name)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON value GET "${json}" benchmarks ${i} run_type)
    must(value STREQUAL "iteration")
    string(JSON value GET "${json}" benchmarks ${i} time_unit)
    must(value STREQUAL "ms")
    string(JSON value GET "${json}" benchmarks ${i} checked)
    must(value STREQUAL "ON")
    foreach(key repetitions iterations threads real_time cpu_time bytes_per_second fraction_of_copy ${ARGN})
      string(JSON type TYPE "${json}" benchmarks ${i} ${key})
      must(type STREQUAL "NUMBER")
      string(JSON value GET "${json}" benchmarks ${i} ${key})
      must(value GREATER_EQUAL 0)
    endforeach()
    string(JSON value GET "${json}" benchmarks ${i} real_time)
    must(value GREATER 0)
  endforeach()
endfunction()

# Each of these peers must have a version if it has a row.
function(check_versions file)
  file(READ ${FOLDER}/${file} json)
  foreach(peer ${ARGN})
    if(json MATCHES "/${peer}\"")
      string(JSON value GET "${json}" context peers ${peer}) # fatal without it
      must(value MATCHES "[0-9]")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/tmp)
set(ENV{TMPDIR} ${FOLDER}/tmp)

bench(0 "usage: sparse-bench PRIMITIVE" --help)
bench(0 "sparse-bench [0-9]+[.][0-9]+[.][0-9]+" --version)
bench(0 "spread.*Gitem/s.*copy.*best peer / ours.*above 1 the library is ahead.*plain loop.*WRONG" --help)
bench(0 "mtx\n.*spgemm\n.*segsort\n.*gather\nscatter\n.*spmv\ncg\n" --list)
bench(0 "er:67108864:2/f64\n.*fem3:48/f64x8\n.*rmat:20:16/f64t\n" spmv --list --device cuda)
bench(0 "poisson2d:1024/f64\n.*er:262144:8/f64\n.*web:300000:1.8:2000/f32\n" spgemm --list --device cpu)
bench(0 "poisson2d:2048/f64\n.*rmat:19:8/f64\nweb:1000000:1.8:5000/f64\n" spgemm --list --device cuda)
bench(0 "^er:262144:8/f32\n$" spgemm --list --device cpu --workload=er*/f32)
bench(0 "poisson2d:1000/add\n.*rmat:16:8/reduce_cols\n.*fem3:20/transpose\n" matrices --list --device cpu)
bench(0 "poisson2d:2048/add\n.*rmat:18:16/reduce_cols\n.*fem3:48/transpose\n" matrices --list --device cuda)
bench(0 "^real/read\nreal/write\n$" mtx --list --workload real)

bench(0 "^uniform_1000/kv32/sorted\nuniform_4096/kv32/sorted\n.*zipf_1.0_2000/kv32/sorted\n$" segsort --list --workload */sorted)

bench(1 "which primitive")
bench(1 "unknown primitive 'spgem'; did you mean 'spgemm'" spgem)
bench(1 "unknown option '--quik'; did you mean '--quick'" spgemm --quik)
bench(1 "no workload of spgemm matches 'poison2d:1024'; did you mean 'poisson2d:1024'" spgemm --device cpu --workload poison2d:1024)
bench(1 "no workload of mtx matches 'real/reed'; did you mean 'real/read'" mtx --workload real/reed)
bench(1 "unknown device 'gpu'; did you mean 'cpu'" spgemm --device gpu)
bench(1 "--threads takes a number from 1 to 4096, not 'two'" spgemm --threads two)
bench(1 "--threads takes a number from 1 to 4096, not '0'" spgemm --threads=0)
bench(1 "--min-time takes seconds" spgemm --min-time -1)
bench(1 "--json needs a value" spgemm --json)
bench(1 "one primitive at a time" spgemm mtx)
bench(1 "nowhere/a.json: cannot write the figures there" spgemm --quick --json nowhere/a.json)
bench(4 "mtx is measured on the CPU only; it has no --device cuda" mtx --device cuda)
if(NOT CUDA)
  bench(4 "this build has no CUDA, so it has no --device cuda" segsort --quick --device cuda)
  bench(4 "this build has no CUDA, so it has no --device cuda" spgemm --quick --device cuda)
endif()
bench(1 "segsort takes no files" segsort --file small.mtx)

bench(0 "best peer / ours [(]above 1: ours is faster[)]\nspgemm/er:4096:8/f64/libsparse [^\n]* %  [0-9.]+\n.*[(](best peer|plain loop)[)]" spgemm --quick --device cpu --min-time 0 --workload er:*:8/f64)
bench(0 "spgemm/er:4096:8/f64/dense " spgemm --quick --device cpu --min-time 0 --workload er* --json spgemm.json)
check_json(spgemm.json spgemm/er:4096:8/f64/libsparse products nnz_c gflops)
check_versions(spgemm.json graphblas eigen cholmod petsc mkl)
bench(0 "mtx/short/read/libc " mtx --quick --min-time 0 --workload short --json mtx.json)
check_json(mtx.json mtx/short/read/libsparse)
check_versions(mtx.json libc eigen cholmod)
bench(0 "mtx/pattern/write/libsparse " mtx --quick --min-time 0 --threads 1 --workload pattern --json pattern.json)
check_json(pattern.json mtx/pattern/read/libsparse)

# A small matrix of the repository, with a plan; and MKL from a file that does not exist.
set(ENV{LSP_BENCH_MKL} ${FOLDER}/none.so)
bench(0 "spgemm/disc.mtx/f64/libsparse:update .*" spgemm --quick --device cpu --min-time 0 --workload disc.mtx/f64 --json disc.json)
if(PEERS)
  bench(0 "MKL cannot be loaded: .*none.so" spgemm --quick --device cpu --min-time 0 --workload disc.mtx/f64)
endif()
check_json(disc.json spgemm/disc.mtx/f64/libsparse products nnz_c gflops)
unset(ENV{LSP_BENCH_MKL})

bench(0 "segsort/zipf_1.0_2000/kv32/libsparse " segsort --quick --device cpu --min-time 0 --json segsort.json)
check_json(segsort.json segsort/uniform_4/k32/libsparse items items_per_second)
check_versions(segsort.json std_sort std_stable qsort vqsort x86_simd_sort)

# Another program keeps a processor busy, so the figures come with a warning.
file(STRINGS /proc/stat counters LIMIT_COUNT 1 REGEX "^cpu +[0-9]*[1-9]")
if(counters)
  set(busy [[while :; do :; done & other=$!; "$@"; code=$?; kill $other; exit $code]])
  execute_process(COMMAND sh -c "${busy}" sh ${BENCH} segsort --quick --device cpu --threads 1 --workload uniform_N/kv32
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0 OR NOT err MATCHES "the machine was busy: other programs used [0-9.]+ of its [0-9]+ processors")
    message(FATAL_ERROR "no warning on a busy machine: ${code}\n${out}${err}")
  endif()
endif()

# A run that is ended writes the rows that it has; without any it leaves the file as it was.
file(WRITE ${FOLDER}/kept.json kept)
execute_process(COMMAND sh -c [["$@" & sleep 0.3; kill $!; wait $!]] sh ${BENCH} segsort --device cpu --threads 1
                        --min-time 5 --workload uniform_N/k64 --json kept.json
                WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
file(READ ${FOLDER}/kept.json kept)
set(file kept.json)
must(code EQUAL 143 AND kept STREQUAL "kept")
set(stop [["$@" --json ended.json >ended.txt & bench=$!
           while kill -0 $bench && ! grep -q k32/libsparse ended.txt; do sleep 0.1; done; kill $bench; wait $bench]])
execute_process(COMMAND sh -c "${stop}" sh ${BENCH} segsort --quick --device cpu --threads 1 --min-time 1
                WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE code ERROR_VARIABLE err)
file(READ ${FOLDER}/ended.json json)
string(JSON signal GET "${json}" context ended_by_signal)
set(file ended.json)
must(code EQUAL 143 AND signal EQUAL 15)

bench(0 "segsort/small_4096_1000/kv32/libsparse " segsort --quick --device cpu --threads 1 --min-time 0 --workload small*)

bench(0 "gather/random/n17/b8/libsparse:plan:stage .*cache model: median error of [0-9]+ predicted times" gather --quick --device cpu --min-time 0 --json gather.json)
check_json(gather.json gather/random/n17/b8/libsparse items items_per_second)
foreach(key predictions choices median_error regret_median regret_worst)
  file(READ ${FOLDER}/gather.json json)
  string(JSON value GET "${json}" context model ${key}) # fatal without it
endforeach()
bench(0 "scatter/local/n17/b16/libsparse:stage " scatter --quick --device cpu --min-time 0 --threads 1 --json scatter.json)
check_json(scatter.json scatter/random/n17/b8/libsparse items items_per_second)
bench(0 "sort/n16/kv32/skewed/libsparse .*sort/n18/k64v32/random/radix/libsparse " sort --quick --device cpu --min-time 0 --json sort.json)
check_json(sort.json sort/n12/k32/libsparse items items_per_second)
bench(0 "hash/all/n14/m8/plain " hash --quick --device cpu --min-time 0 --json hash.json)
check_json(hash.json hash/build/n14/m1/libsparse items items_per_second)
bench(0 "two_body/join/blobs/n10/f32/libsparse:grid " two_body --quick --device cpu --min-time 0 --json two_body.json)
check_json(two_body.json two_body/count/uniform/n10/f32/plain items items_per_second)
bench(0 "suffix_array/words/n16/libsparse " suffix_array --quick --device cpu --min-time 0 --json suffix_array.json)
check_json(suffix_array.json suffix_array/dna/n16/libsparse items items_per_second)
bench(0 "growth/fem3/blocks/8/product/libsparse [^\n]* products +[0-9.e+-]+ ns each.*/24/triple/" growth --quick --device cpu --min-time 0 --workload fem3* --json growth.json)
check_json(growth.json growth/fem3/natural/8/product/libsparse work)
bench(0 "" plot growth.json growth.svg)
bench(0 "growth/text/words/262144/suffix_array/libsparse " growth --quick --device cpu --min-time 0 --workload text)
bench(0 "spmv/rmat:10:8/f64t/libsparse:plan .*plan [0-9.e+-]+ ms.*cache model: median error of [0-9]+ predicted times" spmv --quick --device cpu --min-time 0 --json spmv.json)
check_json(spmv.json spmv/poisson2d:64/f64/libsparse products gflops)
check_versions(spmv.json plain graphblas eigen petsc mkl)
foreach(key predictions choices median_error regret_median regret_worst)
  file(READ ${FOLDER}/spmv.json json)
  string(JSON value GET "${json}" context model ${key}) # fatal without it
endforeach()
bench(0 "matrices/rmat:10:8/add_transposed/libsparse:update [^\n]*plan [0-9.e+-]+ ms.*/copy [^\n]*100[.]0 %" matrices --quick --device cpu --min-time 0 --json matrices.json)
check_json(matrices.json matrices/poisson2d:64/add/libsparse)
check_versions(matrices.json eigen mkl)
bench(0 "batch/mixed/n100/libsparse:each " batch --quick --device cpu --min-time 0 --json batch.json)
check_json(batch.json batch/er:50:5/n100/libsparse products gflops)
check_versions(batch.json eigen mkl)
bench(0 "cg/poisson2d:64/f64/plain " cg --quick --device cpu --min-time 0 --json cg.json)
check_json(cg.json cg/nascg:S/f64/libsparse products gflops)
check_versions(cg.json plain eigen)
bench(0 "^libsparse figures 1\ndevice = .*\nthreads = 1\nstart_picoseconds = .*\npoint = .*\n# point: footprint.*\n# libsparse figures 1\n" calibrate --device cpu --threads 1)
bench(1 "usage: sparse-bench calibrate" calibrate --device gpu)
bench(1 "usage: sparse-bench calibrate" calibrate --threads many)

# The plots.
foreach(types random sequential partitions passes bandwidth)
  bench(0 "^$" plot gather.json gather.svg ${types})
  file(READ ${FOLDER}/gather.svg picture)
  if(NOT picture MATCHES "^<svg .*Gather.*dashed: predicted</text>\n</svg>\n$")
    message(FATAL_ERROR "no picture of ${types}:\n${picture}")
  endif()
endforeach()
bench(2 "no figures of 'none' in it that can be drawn" plot scatter.json scatter.svg none)
bench(0 "^$" plot segsort.json segsort.svg)
file(READ ${FOLDER}/segsort.svg picture)
if(NOT picture MATCHES "^<svg .*kv32.*items in a segment.*>libsparse</text>.*</svg>\n$")
  message(FATAL_ERROR "no picture:\n${picture}")
endif()
bench(0 "^$" plot segsort.json k64.svg k64)
file(WRITE ${FOLDER}/products.json [[{ "context": { "date": "2026-01-01", "gpu": "a GPU", "copy_bytes_per_second": 1e12 },
  "benchmarks": [ { "name": "spgemm/er:10:2/f64/libsparse", "real_time": 2.0 },
    { "name": "spgemm/er:10:2/f64/cusparse:alg1", "real_time": 9.0 },
    { "name": "spgemm/er:10:2/f64/cusparse:alg2", "real_time": 5.0 },
    { "name": "spgemm/er:10:2/f64/cusparse:alg3", "real_time": 1.0, "error_occurred": true } ] }]])
bench(0 "^$" plot products.json products.svg)
file(READ ${FOLDER}/products.svg picture)
if(NOT picture MATCHES "^<svg .*er:10:2</text>.*>2.5</text>.*</svg>\n$")
  message(FATAL_ERROR "no picture of products:\n${picture}")
endif()
bench(2 "no figures of 'f32' in it that can be drawn" plot products.json f32.svg f32)
bench(0 "^$" plot spgemm.json cpu.svg)
file(READ ${FOLDER}/cpu.svg picture)
if(NOT picture MATCHES "^<svg .*time of the best peer / ours [(]above 1.*er:4096:8</text>.*, plain loop.*</svg>\n$")
  message(FATAL_ERROR "no picture of a CPU's products:\n${picture}")
endif()
foreach(record spmv cg)
  bench(0 "^$" plot ${record}.json ${record}.svg)
  file(READ ${FOLDER}/${record}.svg picture)
  if(NOT picture MATCHES "^<svg .*time of the best peer / ours.*poisson2d:64</text>.*</svg>\n$")
    message(FATAL_ERROR "no bars of ${record}:\n${picture}")
  endif()
  bench(0 "^$" plot ${record}.json roofline.svg roofline)
  file(READ ${FOLDER}/roofline.svg picture)
  if(NOT picture MATCHES "^<svg .*operations a byte that must be moved.*<title>poisson2d:64/f64</title>.*</svg>\n$")
    message(FATAL_ERROR "no roofline of ${record}:\n${picture}")
  endif()
endforeach()
bench(2 "no figures of 'f16' in it that can be drawn" plot spmv.json none.svg f16)
bench(1 "usage: sparse-bench plot" plot segsort.json)
bench(1 "nowhere/a.svg: cannot write the picture there" plot segsort.json nowhere/a.svg)
bench(2 "no figures of 'kv128'" plot segsort.json none.svg kv128)
bench(2 "missing.json: No such file" plot missing.json none.svg)
file(WRITE ${FOLDER}/torn.json "{\"benchmarks\": [{\"name\": \"segsort/uniform_8/kv32/")
bench(2 "torn.json: no figures" plot torn.json none.svg)
bench(0 "^$" report page.html gather.json spmv.json segsort.json sort.json)
file(READ ${FOLDER}/page.html page)
if(NOT page MATCHES "^<!doctype html>.*<h2>gather</h2>\n<div><svg .*<h2>spmv</h2>\n<div><svg .*<svg .*<pre>sparse-bench spmv .*<td>spmv/poisson2d:64/f64/libsparse</td>.*<h2>sort</h2>.*</html>\n$"
   OR page MATCHES "(src|href)=")
  message(FATAL_ERROR "the page of records:\n${page}")
endif()
# A row with an error has its reason and no time; a rival has its name; a page says what speaks against a record.
file(WRITE ${FOLDER}/doubtful.json [[{ "context": { "date": "2026-01-01", "gpu": "a GPU", "commit": "abc-dirty",
  "processors_busy_for_others": 1.5 }, "benchmarks": [
    { "name": "spmv/er:10:2/f64/libsparse", "real_time": 2.0, "best_peer_ratio": 2.5 },
    { "name": "spmv/er:10:2/f64/libsparse:plan", "real_time": 1.0, "error_occurred": true, "error_message": "y(3) is 4, not 5",
      "best_peer_ratio": 5 },
    { "name": "spmv/er:10:2/f64/cusparse:coo", "real_time": 0, "error_occurred": true, "error_message": "no memory" },
    { "name": "spmv/er:10:2/f64/cusparse:csr1", "real_time": 5.0 }, { "name": "spmv/er:10:2/f64/plain", "real_time": 6.0 },
    { "name": "spmv/er:9:2/f64/libsparse", "real_time": 2.0, "best_peer_ratio": 2 },
    { "name": "spmv/er:9:2/f64/plain", "real_time": 4.0 } ] }]])
bench(0 "^$" report page.html doubtful.json)
file(READ ${FOLDER}/page.html page)
foreach(part "er:10:2</text>\n<rect [^>]*><text [^>]*>2.5</text>" "er:9:2</text>\n<rect [^>]*><text [^>]*>2, plain loop</text>"
        "json: a GPU, [^<]*commit abc with changes that no commit has, LOADED: others kept 1.5 processors busy</p>"
        "er:10:2/f64/libsparse</td><td>2</td><td></td><td>2.50</td><td>cusparse:csr1</td>"
        "libsparse:plan</td><td colspan=\"4\">failed: y[(]3[)] is 4, not 5</td>" "cusparse:coo</td><td colspan=\"4\">failed: no memory</td>"
        "er:9:2/f64/libsparse</td><td>2</td><td></td><td>2.00</td><td>plain loop</td>")
  if(NOT page MATCHES "${part}")
    message(FATAL_ERROR "the page of a doubtful record lacks ${part}:\n${page}")
  endif()
endforeach()
bench(2 "torn.json: no figures in it" report none.html gather.json torn.json)
bench(1 "usage: sparse-bench report" report)
if(EXISTS ${FOLDER}/none.html)
  message(FATAL_ERROR "a page of a torn record")
endif()
# A long name begins inside the picture, and an axis has no powers of ten.
set(long web:4000000:1.8:20000/a/name/that/is/longer/than/all)
file(WRITE ${FOLDER}/long.json "{ \"context\": { \"date\": \"2026-01-01\", \"cpu\": \"a CPU\", \"copy_bytes_per_second\": 8e12 },
  \"benchmarks\": [ { \"name\": \"spmv/${long}/f64/libsparse\", \"real_time\": 2.0, \"products\": 1e9, \"bytes\": 1e9 },
    { \"name\": \"spmv/${long}/f64/plain\", \"real_time\": 1e-3, \"products\": 1e9, \"bytes\": 1e9 } ] }")
bench(0 "^$" plot long.json long.svg)
file(READ ${FOLDER}/long.svg picture)
string(LENGTH ${long} letters)
math(EXPR wide "${letters} * 7")
if(NOT picture MATCHES "<text x=\"([0-9]+)\" y=\"[0-9]+\" text-anchor=\"end\">${long}</text>" OR CMAKE_MATCH_1 LESS wide)
  message(FATAL_ERROR "a name is cut:\n${picture}")
endif()
bench(0 "^$" plot long.json roofline.svg roofline)
file(READ ${FOLDER}/roofline.svg picture)
if(picture MATCHES ">[0-9.]+e[+-][0-9]+<" OR NOT picture MATCHES ">16384</text>")
  message(FATAL_ERROR "numbers on the axis:\n${picture}")
endif()

# --file: a valid file, one that is not square, a malformed one, a missing one.
set(banner "%%MatrixMarket matrix coordinate real general\n")
file(WRITE ${FOLDER}/small.mtx "${banner}3 3 4\n1 1 1.5\n2 3 -2\n3 1 0.25\n3 3 1e-3\n")
file(WRITE ${FOLDER}/wide.mtx "${banner}1 2 1\n1 2 1\n")
file(WRITE ${FOLDER}/bad.mtx "${banner}3 3 1\n1 4 1\n")
bench(0 "spgemm/small.mtx/f32/libsparse " spgemm --min-time 0 --quick --file small.mtx --json small.json)
check_json(small.json spgemm/small.mtx/f64/libsparse products nnz_c gflops)
bench(0 "spmv/small.mtx/f32/libsparse:plan " spmv --device cpu --min-time 0 --quick --file small.mtx)
bench(0 "spmv/wide.mtx/f64/plain " spmv --device cpu --min-time 0 --quick --file wide.mtx)
bench(0 "matrices/small.mtx/extract_cols/libsparse " matrices --device cpu --min-time 0 --quick --file small.mtx)
bench(2 "wide.mtx: 1 x 2 is not square" matrices --device cpu --quick --file wide.mtx)
bench(1 "batch takes no files" batch --file small.mtx)
bench(2 "1 x 2 is not square: there is nothing to solve" cg --device cpu --quick --file wide.mtx)
bench(0 "mtx/small.mtx/write/libsparse " mtx --min-time 0 --quick --file small.mtx)
bench(2 "wide.mtx: 1 x 2 is not square" spgemm --quick --file wide.mtx)
bench(2 "bad.mtx:3: " spgemm --quick --file bad.mtx)
bench(2 "missing.mtx" mtx --quick --file missing.mtx)

file(GLOB left ${FOLDER}/tmp/*)
if(left)
  message(FATAL_ERROR "left behind: ${left}")
endif()
