#!/usr/bin/env bash
# The READMEs and the page of records say what the records say, and scripts/figures sees it where they do not. SOURCE is
# the project's folder, BENCH a sparse-bench, WORK a folder of the test's own.
set -euo pipefail
"$SOURCE/scripts/figures" --check "$BENCH"

rm -rf "$WORK" && mkdir -p "$WORK"/{scripts,docs,bench/results/cpu} && cd "$WORK"
cp "$SOURCE/scripts/figures" scripts
cat >bench/results/cpu/a.json <<'END'
{"context": {"date": "2026-01-02T03:04:05Z", "commit": "abc-dirty", "cpu": "Some(R) Processor", "threads": 2, "processors_busy_for_others": 1},
"benchmarks": [{"name": "a/x/libsparse", "real_time": 2.0, "best_peer_ratio": 2.5}, {"name": "a/x/that", "real_time": 5.0},
{"name": "a/x/wrong", "real_time": 1.0, "error_occurred": true, "error_message": "wrong"},
{"name": "a/y/libsparse", "real_time": 20, "best_peer_ratio": 3.0}, {"name": "a/y/plain", "real_time": 60.0}]}
END
printf '# Notes\n\n## 2026-01-01, here: more\n\nIt took 12.5 and 40.\n' >docs/notes.md
head='| | ours, ms | best peer, ms | best peer / ours | record |\n|---|---|---|---|---|\n'
write() { printf "$head%s\n" "$*" >README.md; }
row='| `x` | | | | [](bench/results/cpu/a.json) |'
write "$row
| \`y\` | | | | |
| z | 12.5 | that 40 | | [](docs/notes.md#2026-01-01-here-more) |"
scripts/figures && scripts/figures --check
diff <(tail -n 3 README.md) - <<'END'
| `x` | 2.00 | that 5.00 | 2.50 | [Some, 2 threads, 2026-01-02, dirty commit, loaded](bench/results/cpu/a.json) |
| `y` | 20.0 | plain loop 60.0 | 3.00 | |
| z | 12.5 | that 40 | 3.20 | [2026-01-01, here](docs/notes.md#2026-01-01-here-more) |
END

must_fail() { # what is printed
    if scripts/figures --check >out || ! grep -qF "$1" out; then
        echo "no complaint '$1' of:" && cat README.md out && exit 1
    fi
}
sed -i 's/2\.50/2.60/' README.md && must_fail 'README.md: not as the records say'
write "${row/x/w}" && must_fail 'a.json has no row a/w/libsparse'
write "${row/a.json/b.json}" && must_fail 'No such file'
head=${head/ours/wrong} && write "$row" && must_fail 'a.json has no row a/x/wrong with a right result'
write '| z | 13 | that 40 | | [](docs/notes.md#2026-01-01-here-more) |' && must_fail 'has no figure 13'
write '| z | 12.5 | that 40 | | [](docs/notes.md#2026-01-02) |' && must_fail 'notes.md has no section'
echo 'It takes 3.5 ms.' >README.md && must_fail 'README.md:1: a figure without a record'
