"""Writes the files beside it with NumPy, SciPy, pandas and pyarrow; run with: python make.py

Versions used: NumPy 2.4.6, SciPy 1.17.1, pandas 2.3.3, pyarrow 26.0.1, anndata 0.12.19, h5py 3.16.0.
"""

import gzip
import pathlib
import struct

import anndata
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse

members = np.array([[1, 10, -1], [1, 20, 0], [2, -1, 0], [2, 20, 7]])
truth = np.array([5, 5, 6, 6])
table = np.array([[0.1, -2.5], [1e-300, 3.0], [np.pi, 4e9], [2.0, -0.0]])

np.save("big-endian.npy", table.astype(">f8"))
np.save("by-column.npy", np.asfortranarray(table))
np.save("float32.npy", table.astype("<f4"))
np.save("members-i8.npy", members.astype("i1"))
np.save("members-float.npy", np.where(members < 0, np.nan, members))
np.save("words.npy", np.array(["b", "a", "", "ä€"]))
np.savez("plain.npz", labels=members, y=np.array(["u", "u", "v", "v"]))
np.savez_compressed("table.npz", X=table, y=truth, columns=np.array(["one", "two"]))
np.save("complex.npy", table.astype(complex))
np.save("objects.npy", np.array([None, 1], dtype=object), allow_pickle=True)

counts = scipy.sparse.csr_matrix((np.array([7, 65535, 0], "u2"), [0, 3, 1], [0, 2, 2, 3]), shape=(3, 4))
scipy.sparse.save_npz("sparse.npz", counts)
scipy.sparse.save_npz("sparse-columns.npz", counts.tocsc())
scipy.sparse.save_npz("sparse-halves.npz", scipy.sparse.csr_matrix(np.array([[0.5, 0.0]])))

places = ([7, 65535, 2.5, 3, -1], ([0, 0, 2, 4, 5], [0, 3, 1, 0, 2]))
for layout in ["csr", "csc", "coo", "dia", "bsr"]:
    matrix = scipy.sparse.coo_array(places, shape=(6, 4))
    matrix = matrix.tobsr(blocksize=(2, 2)) if layout == "bsr" else matrix.asformat(layout)
    scipy.sparse.save_npz(f"layout-{layout}.npz", matrix)
scipy.sparse.save_npz("layout-twice.npz", scipy.sparse.coo_array(([1.0, 2, 3], ([0, 0, 5], [1, 1, 2])), shape=(6, 4)))

scipy.io.savemat("packed.mat", {"members": members.astype(float), "gt": truth[:, None]}, do_compression=True)
scipy.io.savemat("plain.mat", {"other": "text", "gt": truth[None, :].astype("u1"), "members": members.astype("i2")})
scipy.io.savemat("complex.mat", {"members": members * 1j, "gt": truth})
scipy.io.savemat("small.mat", {"members": np.array([[0], [1]], dtype="u1"), "gt": np.array([[1], [0]], dtype="i2")})

# The same in big-endian order, built by hand: an uncompressed double matrix 'members' of 2 × 1.
def element(kind, data):
    return struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

matrix = (
    element(6, struct.pack(">II", 6, 0))
    + element(5, struct.pack(">ii", 2, 1))
    + element(1, b"members")
    + element(9, struct.pack(">dd", 3.0, 4.0))
)
with open("big-endian.mat", "wb") as file:
    file.write(b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", 0x0100) + b"MI" + element(14, matrix))

columns = {
    "object": ["o1", "o2", "o3", "o4"],
    "int32": pa.array([1, 1, None, 2], pa.int32()),
    "float": pa.array([0.0, float("nan"), 3.0, 3.0], pa.float64()),
    "words": pa.array(["b", "a", None, "b"]),
    "category": pa.array(["y", "y", "x", "x"]).dictionary_encode(),
    "uint64": pa.array([2**64 - 1, 0, 0, 0], pa.uint64()),
    "bool": pa.array([True, False, True, True]),
    "label": ["u", "u", "v", "v"],
}
pq.write_table(pa.table(columns), "ensemble.parquet", row_group_size=3)
numbers = {
    "f32": pa.array([0.5, 1.5, 2.5], pa.float32()),
    "f64": pa.array([0.1, 1e-300, -0.0]),
    "i8": pa.array([-1, 2, 3], pa.int8()),
    "__index_level_0__": pa.array([7, 8, 9]),
}
pq.write_table(pa.table(numbers), "table.parquet", compression="zstd", data_page_version="2.0")
pq.write_table(pa.table({"x": [[1, 2], [3]]}), "nested.parquet")
pq.write_table(pa.table({"x": pa.array([1.5, None])}), "gap.parquet")
mixed = pa.table({"whole": pa.array([1, None, 3] * 9), "words": [None, "b", "c"] * 9, "truth": [True, False, True] * 9})
pq.write_table(
    mixed,
    "delta.parquet",
    compression="gzip",
    data_page_version="2.0",
    use_dictionary=["words"],
    column_encoding={"whole": "DELTA_BINARY_PACKED", "truth": "RLE"},
)
pq.write_table(mixed.select(["words"]), "rare.parquet", use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY")

groups = {
    "object": [f"o{i}" for i in range(11)],
    "i8": pa.array([0, 1, None, 2, 2, 0, 1, 0, -1, 2, 1], pa.int8()),
    "float": pa.array([float("nan"), 4.0, 4.0, 9.0, 70000.0, 9.0, 4.0, float("nan"), 4.0, 9.0, None]),
    "late": pa.array([None] * 9 + [5, 3], pa.uint32()),
    "truth": ["u", "v"] * 5 + ["u"],
}
pq.write_table(pa.table(groups), "groups.parquet", row_group_size=3)

# Sixty cells of three types by three tools, as pandas writes them.
kinds = np.arange(60) % 3
cells = pd.DataFrame(
    {
        "seurat": pd.Categorical([None if i % 10 == 4 else f"cluster {kind}" for i, kind in enumerate(kinds)]),
        "scanpy": pd.Categorical(kinds.astype(str)),
        "sc3": kinds + 1,
        "celltype": pd.Categorical(np.array(["B", "T", "NK"])[kinds]),
    },
    index=pd.Index([f"AAC{i}-1" for i in range(60)], name="barcode"),
)
cells.to_parquet("pandas-index.parquet")
cells.set_index(pd.MultiIndex.from_arrays([kinds % 2, np.array(["s1", "s2"])[kinds % 2], cells.index])).to_parquet(
    "pandas-levels.parquet"
)
plain = cells[["sc3"]].reset_index(drop=True).assign(other=kinds)
plain.to_parquet("lz4.parquet", compression="lz4")
plain.to_parquet("brotli.parquet", compression="brotli")
plain.assign(when=pd.date_range("2024-01-01", periods=60)).to_parquet("times.parquet")

book = pd.ExcelWriter("book.xlsx")
cells = pd.DataFrame({"sample": ["s1", "s2", "s3", "s4"], "x": [1.5, 2, 8, 9], "y": [1, 2, 7, 9], "day": pd.to_datetime(["2024-01-02"] * 4)})
cells.to_excel(book, sheet_name="cells", index=False)
cells[["x", "y"]].to_excel(book, sheet_name="other", index=False)
book.close()


def annotated(values):
    """Four cells with labels, a gap, a layer and an embedding."""
    found = anndata.AnnData(values)
    found.obs_names = ["c1", "c2", "c3", "c4"]
    found.var_names = ["g1", "g2", "g3"]
    found.obs["leiden_1"] = pd.Categorical(["0", "0", "1", "1"])
    found.obs["leiden_2"] = pd.Categorical(["b", None, "a", "b"])
    found.obs["depth"] = [0.5, 1.5, 2.5, 3.5]
    found.obs["kind"] = pd.Categorical(["T", "T", "B", "B"])
    found.layers["counts"] = scipy.sparse.csr_matrix(abs(values))
    found.obsm["X_pca"] = np.arange(8.0).reshape(4, 2)
    return found


def write_annotated(name, cells, **packing):
    """Packed, since HDF5 is mostly zeros."""
    with h5py.File(name, "w", libver="latest") as file:
        anndata.io.write_elem(file, "/", cells, dataset_kwargs=packing)
    with open(name, "rb") as file, open(f"{name}.gz", "wb") as packed:
        packed.write(gzip.compress(file.read(), mtime=0))
    pathlib.Path(name).unlink()


expression = np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 3], [0, -4, 0]], dtype="f4")
write_annotated("packed.h5ad", annotated(expression), compression="lzf")
new = annotated(scipy.sparse.csc_matrix(expression))
new.obs["whole"] = pd.array([1, None, 2, 2], dtype="Int64")
new.obs["word"] = pd.array(["x", "y", None, "x"], dtype="string")
new.obs["flag"] = [True, False, True, False]
anndata.settings.allow_write_nullable_strings = True
write_annotated("new.h5ad", new, compression="gzip")
# old.h5ad.gz is what annotated(scipy.sparse.csr_matrix(expression)).write_h5ad("old.h5ad") of anndata 0.7.8 wrote.
