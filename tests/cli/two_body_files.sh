#!/usr/bin/env bash
# Files of two-body: every format, and malformed ones of every kind; outputs that cannot be written.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"

# Reads the file, and the numbers of points, dimensions and pairs up to 1.5 are as given; with the box, if one is given.
reads() { # "points dimensions pairs" "box" arguments...
    expect 0 cli count -r 1.5 --check --json "${@:3}"
    calm
    is "$(grep -oE '"(points|dimensions|counts)": [^a-z]*' "$out" | grep -oE '[0-9]+' | tr '\n' ' ')" "$1 "
    said "\"box\": [$2]"
}
refused() { # "part" file...
    expect 2 cli count -r 1 "${@:2}"
    told "$1"
    is "$(wc -l <"$err")" 1
    silent
}

# ---- XYZ ----
printf '3\n\nO 0 0 0\nH 1 0 0\nH 0 3 0\n' >a.xyz
reads "3 3 1" "" a.xyz
reads "3 3 1" "" --no-box a.xyz
reads "3 3 3" "4, 4, 4" --box 4,4,4 a.xyz
printf '3\r\nfirst\r\nO 0 0 0 9 9\r\nH 1 0 0 9 9\r\nH 0 3 0 9 9\r\n3\nnext frame' >dos.xyz
reads "3 3 1" "" dos.xyz
printf '2\nLattice="4 0 0 0 4 0 0 0 4" Properties=id:I:1:pos:R:3:species:S:1 pbc="T T T"\n1 0 0 0 O\n2 3 0 0 H\n' >e.xyz
reads "2 3 1" "4, 4, 4" e.xyz
sed 's/T T T/F F F/' e.xyz >open.xyz
reads "2 3 0" "" open.xyz
printf '2\nLattice="0 4 0 4 0 0 0 0 4"\nO 0 0 0\nO 0 3 0\n' >turned.xyz
reads "2 3 1" "4, 4, 4" turned.xyz
: >empty.xyz
refused "empty.xyz: the file is empty" empty.xyz
for first in x -1 1.5 "3 3" 1e12 3000000000; do
    printf '%s\n\nO 0 0 0\n' "$first" >bad.xyz
    refused "bad.xyz:1: the number of points is expected" bad.xyz
done
printf '2\n\nO 0 0 0\n' >bad.xyz
refused "bad.xyz:3: the file ends after 1 of 2 points" bad.xyz
printf '2000000000\n\nO 0 0 0\n' >bad.xyz
refused "bad.xyz:3: the file ends after 1 of 2000000000 points" bad.xyz
printf '1\n' >bad.xyz
refused "the comment in the second line is missing" bad.xyz
for line in "O 0 0" "O 0 0 x" "O 0 0 nan" "O 0 inf 0" "O 1e999 0 0" "O 0x1 0 0" ""; do
    printf '1\n\n%s\n' "$line" >bad.xyz
    refused "bad.xyz:3: " bad.xyz
done
for line in 'Lattice="1 0 0"' 'Lattice="1 0 0 0 1 0 0 0 x"' 'Properties=species:S:1' 'Properties=pos:R' \
    'Lattice="4 0 0 0 4 0 0 0 4" pbc="T T F"'; do
    printf '1\n%s\nO 0 0 0\n' "$line" >bad.xyz
    refused "bad.xyz:2: " bad.xyz
done
printf '1\nLattice="1 0 0 2 0 0 0 0 1"\nO 0 0 0\n' >bad.xyz
refused "the edges of the box span no volume" bad.xyz

# ---- GROMACS ----
gro() { printf '    1SOL  %5s    1%8.3f%8.3f%8.3f\n' "$@"; }
{ printf 'water\n2\n' && gro OW 0 0 0 && gro HW1 3 0 0 && printf '4 4 4\n'; } >a.gro
reads "2 3 1" "4, 4, 4" a.gro
sed '$s/.*/4 4 4 0 0 1 0 0 0/' a.gro >tilted.gro
reads "2 3 1" "4, 4, 4" tilted.gro
said '"tilt": [1, 0, 0]'
sed '$s/.*/0 0 0/' a.gro >open.gro
reads "2 3 0" "" open.gro
for box in "4 4" "4 4 4 4" "4 4 x" "1 2 3 4 5 6 7 8 9 10" "4 0 4"; do
    sed "\$s/.*/$box/" a.gro >bad.gro
    refused "bad.gro:5: " bad.gro
done
sed '$d' a.gro >bad.gro
refused "the box in the last line is missing" bad.gro
sed '3s/.*/short/' a.gro >bad.gro
refused "bad.gro:3: three coordinates are expected" bad.gro
sed '3s/0\.000/0.x00/' a.gro >bad.gro
refused "bad.gro:3: a coordinate is no finite number" bad.gro
sed '2s/2/9/' a.gro >bad.gro
refused "bad.gro:5: " bad.gro
printf 'title' >bad.gro
refused "a title and the number of points are expected" bad.gro

# ---- PDB ----
atom() { printf '%-6s    1 %-4s%sALA A   1    %8.3f%8.3f%8.3f  1.00  0.00          %2s\n' "$@"; }
box='CRYST1    4.000    4.000    4.000  90.00  90.00  90.00 P 1           1'
{ echo "$box" && atom ATOM ' CA ' ' ' 0 0 0 C && atom HETATM ' OA ' A 3 0 0 O && atom ATOM ' OA ' B 2 0 0 O &&
    echo ENDMDL && atom ATOM ' CA ' ' ' 1 0 0 C; } >a.pdb
reads "2 3 1" "4, 4, 4" a.pdb
sed '1s/4\.000/1.000/g' a.pdb >open.pdb
reads "2 3 0" "" open.pdb
sed '1s/90\.00 P/120.0 P/' a.pdb >tilted.pdb
reads "2 3 1" "4, 3.4641016151377553, 4" tilted.pdb
for from in '4.000/x.000' '90.00/0.000' '90.00/180.0' '4.000/0.000' '90.00 P/      P'; do
    sed "1s/$from/" a.pdb >bad.pdb
    refused "bad.pdb:1: " bad.pdb
done
sed '1s/90.00  90.00  90.00/10.00  90.00  10.00/; 1s/90.00/150.0/' a.pdb >bad.pdb
refused "no box has the angles" bad.pdb
sed '2s/ 0\.000/ 0.z00/' a.pdb >bad.pdb
refused "bad.pdb:2: x in columns 31 to 38 is no finite number" bad.pdb
printf 'ATOM      1  CA  ALA A   1       0.000\n' >bad.pdb
refused "bad.pdb:1: y in columns 39 to 46 is missing" bad.pdb
printf 'HEADER\nEND\n' >bad.pdb
refused "no ATOM or HETATM is there" bad.pdb

# ---- numbers in columns ----
printf 'x,y\n# comment\n0,0\n\n1;1\n3\t0\n' >a.csv
reads "3 2 1" "" a.csv
printf '1\n2\n4' >one.csv
reads "3 1 1" "" one.csv
printf '1 2\n3\n' >bad.csv
refused "bad.csv:2: 1 numbers, but lines before have 2" bad.csv
printf '1 2\n3 x\n' >bad.csv
refused "bad.csv:2: a coordinate is no finite number: 'x'" bad.csv
printf '1 2 3 4 5 6 7 8 9\n' >bad.csv
refused "bad.csv:1: more than 8 numbers" bad.csv
printf 'x,y\n' >bad.csv
refused "no line has numbers" bad.csv
printf '1 \0 2\n' >bad.csv
refused "bad.csv:1: " bad.csv

# ---- NumPy ----
npy() { # version type order shape data...: \x escapes
    local head="{'descr': '$2', 'fortran_order': $3, 'shape': $4, }" bytes=2
    [ "$1" = 1 ] || bytes=4
    printf '\x93NUMPY'
    # shellcheck disable=SC2059
    printf "\\x$1\\x00\\x$(printf %02x ${#head})\\x00"
    [ $bytes = 2 ] || printf '\0\0'
    printf %s "$head"
    # shellcheck disable=SC2059
    printf "${5:-}"
}
zero='\x00\x00\x00\x00' one='\x00\x00\x80\x3f' one8='\x00\x00\x00\x00\x00\x00\xf0\x3f'
npy 1 '<f4' False '(2, 2)' "$zero$zero$one$zero" >a.npy
reads "2 2 1" "" a.npy
npy 2 '<f8' False '(2, 1)' "$zero$zero$one8" >b.npy
reads "2 1 1" "" b.npy
npy 1 '<f8' False '(2,)' "$zero$zero$one8" >c.npy
reads "2 1 1" "" c.npy
bad_npy() { # "part" arguments of npy...
    npy "${@:2}" >bad.npy
    refused "bad.npy: $1" bad.npy
}
bad_npy "the type must be" 1 '>f8' False '(2, 1)' "$zero$zero$one8"
bad_npy "the array must have C order" 1 '<f8' True '(2, 1)' "$zero$zero$one8"
for shape in '()' '(2, 2, 2)' '(x, 1)' '2' '(2)' '(2, 1'; do bad_npy "the shape must be" 1 '<f8' False "$shape"; done
for shape in '(2, 9)' '(2, 0)' '(-2, 1)' '(99999999999, 2)'; do bad_npy "the shape is" 1 '<f8' False "$shape"; done
bad_npy "8 bytes of numbers are there, the shape needs 16" 1 '<f8' False '(2, 1)' "$one8"
bad_npy "coordinate 0 of point 1 is inf" 1 '<f4' False '(2, 1)' "$zero"'\x00\x00\x80\x7f'
head -c 30 a.npy >bad.npy
refused "bad.npy: the header has" bad.npy
printf 'hello' >bad.npy
refused "bad.npy: this is no NumPy file" bad.npy
head -c 8 a.npy >bad.npy
refused "bad.npy: this is no NumPy file" bad.npy

# ---- names, standard input, compression ----
cp a.xyz A.XYZ
reads "3 3 1" "" A.XYZ
cp a.xyz plain
reads "3 3 1" "" --format xyz plain
input=a.gro
reads "2 3 1" "4, 4, 4" --format gro -
input=/dev/null
refused "standard input: the file is empty" --format xyz -
refused "missing.xyz: cannot be read: No such file" missing.xyz
mkdir folder.xyz
refused "folder.xyz: cannot be read: Is a directory" folder.xyz
if command -v gzip >/dev/null; then
    gzip -c a.xyz >z.xyz.gz
    reads "3 3 1" "" z.xyz.gz
    head -c 30 z.xyz.gz >cut.xyz.gz
    refused "cut.xyz.gz: " cut.xyz.gz
fi

# ---- atoms of a kind ----
for words in "--element O,H" "--name O,H" "--element o,h"; do
    # shellcheck disable=SC2086
    expect 0 cli count a.xyz -r 1.5,9 $words --check -q
    is "$(tr '\n' /  <"$out")" "# radius pairs/1.5 1/9 2/"
done
expect 0 cli count a.xyz -r 9 --element H -q
is "$(tail -1 "$out")" "9 1"
expect 0 cli count a.xyz -r 9 --element H,H -q # one set
is "$(tail -1 "$out")" "9 1"
expect 0 cli count a.xyz a.xyz -r 9 -q
is "$(tail -1 "$out")" "9 9"
expect 0 cli count a.pdb -r 2 --name CA,OA -q
is "$(tail -1 "$out")" "2 1"
refused "none of 3 atoms has the element 'N'" a.xyz --element N
refused "these points have no names" a.csv --name N
refused "a.csv has 2 dimensions, b.npy has 1" a.csv b.npy
printf '1e300 0\n0 0\n' >large.csv
refused "coordinate 0 of point 0, 1e+300, does not fit f32" large.csv --precision f32

# ---- output ----
refused "no/such/x: cannot be written: No such file" missing.xyz -o no/such/x
if [ -c /dev/full ]; then
    full() { "$CLI" "$@" >/dev/full; }
    expect 2 full count a.csv -r 1
    told "standard output cannot be written: No space left on device"
fi
expect 3 cli join --generate uniform:20000:2 -r 0.2 --max-memory 1M
silent
printf '%0200000d\n' 0 >long.csv
expect 3 cli count long.csv -r 1 --max-memory 100K
told "no memory for more than"
odd=$'a\x1b[31m\nb.csv'
cp bad.xyz "$odd"
refused 'a\x1b[31m\nb.csv:' "$odd"
finish
