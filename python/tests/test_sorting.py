import numpy as np
import pytest
import segsparse

KEYS = [np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64]


def random(n, dtype, seed=1):
    return np.random.default_rng(seed).integers(0, 1000, n).astype(dtype)


@pytest.mark.parametrize("dtype", KEYS)
def test_whole_arrays(place, dtype):
    keys = random(10000, dtype)
    values = np.arange(10000)
    order = np.argsort(keys, kind="stable")
    for method in ("auto", "radix"):
        assert (place.get(segsparse.sort(place.put(keys), method=method)) == keys[order]).all()
        sorted_keys, moved = segsparse.sort(place.put(keys), place.put(values), method=method)
        assert (place.get(sorted_keys) == keys[order]).all() and (place.get(moved) == order).all()
    assert (place.get(segsparse.argsort(place.put(keys))) == order).all()
    down = place.get(segsparse.sort(place.put(keys), descending=True))
    assert (down == keys[order][::-1]).all()


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_segments(place, index):
    keys = random(5000, np.float32)
    offsets = np.unique(np.append(random(100, index, 2) * 5, [0, 5000])).astype(index)
    segment = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((np.arange(5000), keys, segment))
    k, o = place.put(keys), place.put(offsets)
    assert (place.get(segsparse.segsort(k, o)) == keys[order]).all()
    assert (place.get(segsparse.segargsort(k, o, whole=True)) == order).all()
    assert (place.get(segsparse.segargsort(k, o)) == order - offsets[:-1][segment]).all()
    rows = place.get(segsparse.segsort(place.put(keys.reshape(50, 100))))
    assert (rows == np.sort(keys.reshape(50, 100), axis=1)).all()
    assert (place.get(segsparse.segsort(k, 7))[:7] == np.sort(keys[:7])).all()


def test_top_k(place):
    keys = np.random.default_rng(1).permutation(5000).astype(np.float64)
    offsets = np.array([0, 2, 2, 700, 5000])
    top = segsparse.top_k(place.put(keys), 5, place.put(offsets))
    ends = place.get(top.offsets)
    assert ends.tolist() == [0, 2, 2, 7, 12]
    for s in range(4):
        best = np.sort(keys[offsets[s]:offsets[s + 1]])[::-1][:5]
        assert (place.get(top.keys)[ends[s]:ends[s + 1]] == best).all()
    assert (keys[place.get(top.positions)] == place.get(top.keys)).all()


@pytest.mark.parametrize("shape, k", [((100, 50), 2), ((5000,), 7), ((4, 1250), 3000), ((2, 5, 500), 1), ((3, 0), 2),
                                      ((0,), 1)])
@pytest.mark.parametrize("largest", [True, False])
def test_top_k_of_rows(place, shape, k, largest):
    keys = random(int(np.prod(shape)), np.float32).reshape(shape)
    top = segsparse.top_k(place.put(keys), k, largest=largest)
    order = np.argsort(-keys if largest else keys, axis=-1, kind="stable")[..., :k]
    assert top.offsets is None and place.get(top.keys).shape == order.shape
    assert (place.get(top.positions) == order).all()
    assert (place.get(top.keys) == np.take_along_axis(keys, order, -1)).all()


def test_top_k_has_the_values_of_torch():
    torch = pytest.importorskip("torch")
    keys = torch.from_numpy(random(6000, np.float32).reshape(6, 1000))
    for largest in (True, False):
        assert torch.equal(segsparse.top_k(keys, 9, largest=largest).keys, torch.topk(keys, 9, largest=largest).values)


def test_groups(place):
    keys = random(3000, np.int64)
    found = segsparse.groups(place.put(keys))
    unique, starts = np.unique(np.sort(keys), return_index=True)
    assert (place.get(found.starts) == np.append(starts, 3000)).all()
    assert (place.get(found.keys)[starts] == unique).all()
    assert (keys[place.get(found.positions)] == place.get(found.keys)).all()
    assert segsparse.groups(np.empty(0)).starts.tolist() == [0]


def test_gather_and_scatter(place):
    rng = np.random.default_rng(1)
    source, index = rng.random(1000), rng.integers(0, 1000, 5000)
    assert (place.get(segsparse.gather(place.put(source), place.put(index))) == source[index]).all()
    rows = rng.random((1000, 3))
    assert (place.get(segsparse.gather(place.put(rows), place.put(index))) == rows[index]).all()
    target = place.put(np.zeros(1000))
    whole = rng.integers(0, 9, 5000).astype(float)
    assert segsparse.scatter(place.put(whole), place.put(index), target, rule="add") is target
    assert (place.get(target) == np.bincount(index, whole, 1000)).all()
    with pytest.raises(segsparse.ArgumentError, match="1000"):
        segsparse.gather(place.put(source), place.put(np.array([0, 1000])))
    assert segsparse.gather(np.array(["a", "bb"], "U4"), np.array([1, 1])).tolist() == ["bb", "bb"]
    with pytest.raises(segsparse.UnsupportedError, match="objects"):
        segsparse.gather(np.array([None, 1]), np.array([0]))


def test_suffix_array(place):
    text = np.random.default_rng(1).integers(0, 4, 2000).astype(np.uint8)
    suffixes = place.get(segsparse.suffix_array(place.put(text)))
    whole = text.tobytes()
    assert suffixes.tolist() == sorted(range(2000), key=lambda i: whole[i:])
    assert sorted(segsparse.find(whole, suffixes, whole[100:105]).tolist()) == [
        i for i in range(2000) if whole[i:i + 5] == whole[100:105]]


def test_points(place):
    points = np.random.default_rng(1).random((300, 3))
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    p = place.put(points)
    pairs = np.sum(distance <= 0.2) // 2 - 150
    assert segsparse.pair_count(p, 0.2)[0] == pairs == segsparse.pair_histogram(p, 0.2, 10).sum()
    D = place.get(segsparse.radius_join(p, 0.2))
    assert D.nnz == 2 * pairs and abs(D.toarray() - np.where(distance <= 0.2, distance, 0)).max() < 1e-12
    assert place.get(segsparse.nearest(p, 4)).nnz == 1200


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (3, 0), (0, 3), (1, 7)])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint16, np.int32, np.float16, np.float64])
def test_sort_takes_an_axis_as_numpy_does_and_keeps_the_type(shape, dtype):
    keys = np.random.default_rng(1).permutation(np.prod(shape)).reshape(shape).astype(dtype)
    for axis in (*range(-len(shape), len(shape)), None):
        expected = np.sort(keys, axis=axis)
        for descending in (False, True):
            found = segsparse.sort(keys, axis=axis, descending=descending)
            assert found.dtype == dtype and found.shape == expected.shape
            turned = np.flip(expected, -1 if axis is None else axis)
            assert (found == (turned if descending else expected)).all()
        assert (segsparse.argsort(keys, axis=axis) == np.argsort(keys, axis=axis, kind="stable")).all()
        sorted_keys, values = segsparse.sort(keys, keys.astype(np.int32), axis=axis)
        assert (sorted_keys == expected).all() and (values == expected).all()
    assert segsparse.sort(keys.tolist()).tolist() == np.sort(keys).tolist()
    with pytest.raises(segsparse.ArgumentError, match=f"axis is {len(shape)}"):
        segsparse.sort(keys, axis=len(shape))


def test_bits_decide_in_one_array_and_in_rows(place):
    keys = random(600, np.uint64)
    for shape, axis in (((600,), -1), ((20, 30), 1), ((20, 30), None)):
        x = keys.reshape(shape)
        y = x if axis is not None else x.reshape(-1)
        order = np.argsort(y >> 3 & 31, axis=-1, kind="stable")
        found = place.get(segsparse.sort(place.put(x), bits=(3, 8), axis=axis))
        assert (found == np.take_along_axis(y, order, -1)).all()


def test_all_sorts_keep_16_bits():
    keys = np.array([3, 1, 2, 1], np.int16)
    for found in (segsparse.sort(keys), segsparse.segsort(keys, np.int64(2)), segsparse.groups(keys).keys,
                  segsparse.top_k(keys, 2).keys):
        assert found.dtype == np.int16
