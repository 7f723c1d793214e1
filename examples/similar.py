"""The most similar texts: cosines of word counts, of which a matrix of all pairs never exists."""

import scipy.sparse as sp
import segsparse

texts = ["the cat sat on the mat", "a cat on a mat", "sums of sparse rows", "products of sparse rows and columns",
         "the dog sat on the log"]
words = {word: number for number, word in enumerate(sorted({word for text in texts for word in text.split()}))}
row = [i for i, text in enumerate(texts) for _ in text.split()]
col = [words[word] for text in texts for word in text.split()]
counts = sp.csr_array(([1.0] * len(row), (row, col)), shape=(len(texts), len(words)))  # SciPy adds what comes twice

lengths = segsparse.reduce(counts, "norm2", axis=1)
A = segsparse.scale(counts, rows=1 / lengths)
# Two of each row, itself among them; a row of A.A^T is filtered before the next one is made.
nearest = segsparse.multiply(A, A, transpose_b=True, keep=2)
for i, text in enumerate(texts):
    for j, cosine in zip(nearest[[i]].indices, nearest[[i]].data):
        if i != j:
            print(f"{text!r} is nearest to {texts[j]!r}: {cosine:.2f}")
assert [int(j) for i in range(5) for j in nearest[[i]].indices if i != j] == [4, 0, 3, 2, 0]
