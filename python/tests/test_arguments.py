"""Every parameter of every public function, found by its annotation, with whatever people bring. A new function, or a
new parameter, needs a sample here; without one its test fails."""

import copy
import functools
import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import segsparse

A = segsparse.generate("poisson2d:4")
N = A.shape[0]
X, KEYS, POINTS = np.arange(1.0, N + 1), np.array([5, 3, 9, 1, 7, 2]), np.arange(24.0).reshape(8, 3) ** 2 % 7
OFFSETS, TEXT = np.array([0, 2, 6]), np.frombuffer(b"banana", np.uint8)
ORDER = np.random.default_rng(1).permutation(N)
TWO = {"A": A, "B": A}
SOLVE = {"A": A, "b": X, "x0": np.ones(N), "maxiter": 100}
PLAN, SPMV, SOLVER = (functools.partial(kind, A) for kind in (segsparse.TransposePlan, segsparse.SpmvPlan,
                                                              segsparse.SolvePlan))

# Arguments of a call that is right, with each array and each whole number. Of a method: the object first.
CALLS = {
    "Context": {"threads": 1, "max_bytes": 10**9, "stream": 0},
    "Context.cancel": (segsparse.Context, {}), "Context.synchronize": (segsparse.Context, {}),
    "Context.trim": (segsparse.Context, {}),
    "Matrix": {"shape": (2, 2), "indptr": np.array([0, 1, 2]), "indices": np.array([0, 1]), "data": np.ones(2)},
    "Matrix.get": (lambda: segsparse.Matrix(A.shape, A.indptr, A.indices, A.data), {}),
    "add": TWO, "hadamard": TWO, "explain": TWO, "MultiplyPlan": TWO, "AddPlan": {"alpha": 1, "beta": 2, **TWO},
    "multiply": {"keep": 2, "block_bytes": 0, "mask": A, **TWO},
    "multiply_batch": {"A": [A], "B": [A]}, "triple": {"R": A, "A": A, "P": A}, "TriplePlan": {"R": A, "A": A, "P": A},
    "TransposePlan": {"A": A}, "apply": {"A": A, "function": "abs"}, "block": {"A": A, "rows": (1, 3), "cols": (0, 4)},
    "check": {"A": A}, "copy": {"A": A}, "diagonal": {"A": A}, "expand": {"A": segsparse.tril(A)}, "stats": {"A": A},
    "transpose": {"A": A}, "to_dense": {"A": A}, "sort_rows": {"A": A}, "tril": {"A": A, "k": 0},
    "triu": {"A": A, "k": 0}, "reduce": {"A": A, "axis": 1}, "filter": {"A": A, "keep": 1, "mask": A},
    "stack": {"blocks": [[A]]},
    "extract": {"A": A, "rows": ORDER[:5], "cols": ORDER[:7]}, "permute": {"A": A, "rows": ORDER, "cols": ORDER},
    "scale": {"A": A, "rows": X, "cols": X}, "from_dense": {"D": A.toarray()}, "from_diagonal": {"x": X},
    "from_coo": {"row": np.array([1, 0, 1]), "col": np.array([0, 1, 1]), "data": np.ones(3), "shape": (2, 2)},
    "generate": {"spec": "er:9:3", "seed": 7}, "read_mtx": {"path": "A.mtx"}, "write_mtx": {"path": "A.mtx", "A": A},
    "to_device": {"x": X, "ordinal": 0}, "synchronize": {}, "cuda_device_count": {},
    "gather": {"source": X, "index": ORDER[:5]},
    "scatter": {"values": X[:5], "index": ORDER[:5], "target": np.zeros(N)},
    "sort": {"keys": KEYS, "values": KEYS * 2, "axis": 0, "bits": (0, 4)}, "argsort": {"keys": KEYS, "axis": 0},
    "segsort": {"keys": KEYS, "offsets": OFFSETS, "values": KEYS * 2}, "segargsort": {"keys": KEYS, "offsets": OFFSETS},
    "top_k": {"keys": KEYS, "k": 2, "offsets": OFFSETS}, "groups": {"keys": KEYS, "offsets": OFFSETS},
    "suffix_array": {"text": TEXT}, "common_prefixes": {"text": TEXT, "suffixes": segsparse.suffix_array(TEXT)},
    "find": {"text": TEXT, "suffixes": segsparse.suffix_array(TEXT), "pattern": TEXT[1:3]},
    "pair_count": {"a": POINTS, "radii": np.array([2.0, 1, 3]), "b": POINTS + 1, "box": np.array([7.0, 8, 9])},
    "pair_histogram": {"a": POINTS, "range": 3, "bins": 5, "b": POINTS + 1, "box": np.array([7.0, 8, 9])},
    "radius_join": {"a": POINTS, "radius": 2, "b": POINTS + 1, "box": np.array([7.0, 8, 9])},
    "nearest": {"a": POINTS, "k": 2, "b": POINTS + 1, "box": np.array([7.0, 8, 9])},
    "spmv": {"A": A, "x": X, "y": np.zeros(N)}, "cg": SOLVE, "bicgstab": SOLVE,
    "SpmvPlan": {"A": A, "vectors": 0, "expected_calls": 9}, "SpmvPlan.matvec": (SPMV, {"x": X}),
    "SpmvPlan.__matmul__": (SPMV, {"x": X}), "SpmvPlan.multiply": (SPMV, {"x": X, "y": np.zeros(N)}),
    "SpmvPlan.update": (SPMV, {"values": A.data * 2}), "SolvePlan": {"A": A, "maxiter": 100},
    "SolvePlan.solve": (SOLVER, {"b": X}), "SolvePlan.update": (SOLVER, {"values": A.data * 2}),
    "TransposePlan.execute": (PLAN, {}), "TransposePlan.update": (PLAN, {"values": A.data * 2}),
}
SHARED = {"MultiplyPlan", "TriplePlan", "AddPlan"}  # their methods are those of TransposePlan
RESULTS = {"DeviceArray", "Solution", "Top", "Groups"}  # nobody else makes them
NO_LISTS = {("suffix_array", "text"), ("common_prefixes", "text"), ("find", "text"), ("find", "pattern"),
            ("to_device", "x")}
KINDS = {"Array", "Output", "Sparse", "int", "float", "str", "bool", "None", "Sequence", "Sequence[Sequence]",
         "tuple[int, int]"}
FREE = {"dtype", "M", "callback", "path", "log", "progress", "keep", "pool", "out_of_core"}  # with tests of their own


def public():
    """(name, function) of all that is public, with methods."""
    for name in segsparse.__all__:
        thing = getattr(segsparse, name)
        if isinstance(thing, type) and not issubclass(thing, segsparse.Error) and name not in RESULTS:
            yield name, thing.__init__
            for member, method in inspect.getmembers(thing, inspect.isfunction):
                inner = member in ("call", "run", "make", "taken", "guarded", "interruptible", "bury", "inner")
                if name not in SHARED and not inner and (not member.startswith("_") or member == "__matmul__"):
                    if (name, member) != ("Matrix", "__matmul__"):
                        yield f"{name}.{member}", method
        elif inspect.isfunction(thing):
            yield name, thing


FUNCTIONS = dict(public())


def kinds(parameter):
    return {kind.strip() for kind in str(parameter.annotation).split("|")}


def parameters(*wanted):
    """(name of the function, name of the parameter) of all parameters of some kinds."""
    return [(name, parameter.name) for name, function in FUNCTIONS.items()
            for parameter in inspect.signature(function).parameters.values() if kinds(parameter) & set(wanted)]


def call(name, parameter=None, value=None):
    """Calls with the sample, and another value for one parameter. Returns the result and its arguments."""
    make, given = CALLS[name] if isinstance(CALLS[name], tuple) else (None, CALLS[name])
    given = copy.deepcopy(given)
    if parameter is not None:
        given[parameter] = value
    outer, _, method = name.partition(".")
    function = getattr(make(), method) if method else getattr(segsparse, outer)
    if "values" in given and method == "update":
        return function(given["values"]), given
    return function(**given), given


def plain(result):
    """A result, as numbers that can be compared."""
    if isinstance(result, (tuple, list)):
        return [plain(one) for one in result]
    if sp.issparse(result) or isinstance(result, segsparse.Matrix):
        return [result.shape, *(np.asarray(one).tolist() for one in (result.indptr, result.indices, result.data))]
    if isinstance(result, np.ndarray):
        return result.tolist()
    return None  # information, or an object


def sample(name, parameter):
    given = CALLS[name][1] if isinstance(CALLS[name], tuple) else CALLS[name]
    return given[parameter]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    segsparse.write_mtx("A.mtx", A)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_has_a_kind_and_a_sample(name):
    assert name in CALLS
    given = CALLS[name][1] if isinstance(CALLS[name], tuple) else CALLS[name]
    for parameter in list(inspect.signature(FUNCTIONS[name]).parameters.values()):
        if parameter.name in ("self",):
            continue
        assert kinds(parameter) <= KINDS or parameter.name in FREE, f"{parameter} has no kind"
        if kinds(parameter) & {"Array", "Output", "Sparse", "int", "tuple[int, int]"}:
            assert parameter.name in given, f"{parameter} has no sample"
    if name != "to_device" or segsparse.cuda_device_count():
        call(name)


def with_gaps(x):
    wide = np.repeat(np.repeat(x, 2, axis=0), 2, axis=-1) if x.ndim > 1 else np.repeat(x, 2)
    wide[1::2] = 99
    return wide[::2, ::2] if x.ndim > 1 else wide[::2]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


SAME = {"gaps": with_gaps, "reversed": lambda x: x[::-1].copy()[::-1], "read-only": read_only,
        "a list": lambda x: x.tolist(), "Fortran's order": lambda x: np.asfortranarray(x),
        "other bytes": lambda x: x.astype(x.dtype.newbyteorder()), "a subclass": lambda x: x.view(np.recarray)}
OTHER = {"2-D": lambda x: np.stack([x.ravel()] * 2, axis=1), "3-D": lambda x: x.reshape(-1, 1, 1), "0-D": lambda x:
         np.array(x.flat[0]), "a scalar": lambda x: x.flat[0], "empty": lambda x: [], "empty 2-D": lambda x: [[]],
         "ragged": lambda x: [[1], [2, 3]], "None": lambda x: None, "a string": lambda x: "a\0b", "object": lambda x:
         object(), "objects": lambda x: np.array([None] * x.shape[0]), "a dictionary": lambda x: {}}


@pytest.mark.parametrize("form", SAME)
@pytest.mark.parametrize("name, parameter", parameters("Array"))
def test_input_in_any_layout_gives_the_same_result(name, parameter, form):
    if name == "to_device" and not segsparse.cuda_device_count():
        pytest.skip("no GPU")
    x = SAME[form](sample(name, parameter))
    if form == "a list" and (name, parameter) in NO_LISTS:
        with pytest.raises(segsparse.Error):
            call(name, parameter, x)
    else:
        assert plain(call(name, parameter, x)[0]) == plain(call(name)[0])


@pytest.mark.parametrize("form", OTHER)
@pytest.mark.parametrize("name, parameter", parameters("Array", "Output", "Sparse"))
def test_what_does_not_fit_is_refused_by_an_error_of_segsparse(name, parameter, form):
    x = sample(name, parameter)
    try:
        call(name, parameter, OTHER[form](x.toarray() if sp.issparse(x) else np.asarray(x)))
    except segsparse.Error as error:
        assert len(str(error)) > 10


@pytest.mark.parametrize("name, parameter", [("pair_count", "radii"), ("nearest", "box"), ("extract", "rows"),
                         ("permute", "cols"), ("scale", "rows"), ("from_coo", "row"), ("gather", "index"),
                         ("cg", "b"), ("cg", "x0"), ("SolvePlan.solve", "b"), ("segsort", "offsets"),
                         ("find", "suffixes"), ("SpmvPlan.update", "values")])
def test_two_dimensions_are_refused_where_one_is_meant(name, parameter):
    with pytest.raises(segsparse.ArgumentError, match="shape"):
        call(name, parameter, OTHER["2-D"](sample(name, parameter)))


@pytest.mark.parametrize("form", ["gaps", "reversed", "read-only", "a list", "other bytes", "a scalar", "a tuple"])
@pytest.mark.parametrize("name, parameter", parameters("Output"))
def test_output_that_cannot_be_written_is_refused(name, parameter, form):
    x = {**SAME, **OTHER, "a tuple": lambda x: tuple(x.tolist())}[form](sample(name, parameter))
    with pytest.raises(segsparse.Error, match="written|read-only|gaps|copied|taken"):
        call(name, parameter, x)
    result, given = call(name)
    assert result is given[parameter] and result.any()


NUMBERS = parameters("int", "tuple[int, int]")


def numbered(x, number):
    return (number, x[1]) if isinstance(x, tuple) else number


@pytest.mark.parametrize("name, parameter", NUMBERS)
def test_whole_number_is_never_cut(name, parameter):
    x = sample(name, parameter)
    for number in (2**64, 2**64 + 1, 2**100, -2**64, -2**100):
        with pytest.raises(OverflowError, match=f"{parameter}.*{number}") as caught:
            call(name, parameter, numbered(x, number))
        assert isinstance(caught.value, segsparse.Error)
    for wrong in (1.5, "3", object(), 1j):
        with pytest.raises(segsparse.Error, match=parameter):
            call(name, parameter, numbered(x, wrong))
    if not isinstance(x, np.ndarray) and (name != "to_device" or segsparse.cuda_device_count()):
        same = tuple(np.int64(one) for one in x) if isinstance(x, tuple) else np.int64(x)
        assert plain(call(name, parameter, same)[0]) == plain(call(name)[0])


@pytest.mark.parametrize("name, parameter", parameters("float"))
def test_number_is_a_number(name, parameter):
    for wrong in ("1", [], object(), 1j):
        with pytest.raises(segsparse.Error, match=parameter):
            call(name, parameter, wrong)
    with pytest.raises(OverflowError, match=parameter):
        call(name, parameter, 10**400)


@pytest.mark.parametrize("name, parameter", parameters("str") + [("read_mtx", "path"), ("write_mtx", "path")])
def test_string_is_a_known_one(name, parameter):
    for wrong in ("A.mtx\0B", 3, [], {}, 1.5):
        with pytest.raises(segsparse.Error):
            call(name, parameter, wrong)


def test_ints_of_c_are_not_cut():
    for number in (2**31, 2**32 + 1):
        with pytest.raises(OverflowError, match=f"threads is {number}"):
            segsparse.Context(threads=number)
        with pytest.raises(OverflowError, match=f"bits is {number}"):
            segsparse.sort(KEYS, bits=(0, number))
        with pytest.raises(OverflowError, match=f"device is {number}"):
            segsparse.Context(f"cuda:{number}")


def test_nothing_that_holds_memory_of_c_is_copied():
    for thing in (segsparse.Context(), SPMV(), SOLVER(), PLAN()):
        with pytest.raises(ValueError, match="pickled"):  # segsparse's or that of ctypes
            copy.deepcopy(thing)
        with pytest.raises((ValueError, AttributeError), match="pickle"):
            pickle.dumps(thing)
    with pytest.raises(segsparse.ArgumentError, match="copied"):
        copy.copy(segsparse.Context())
