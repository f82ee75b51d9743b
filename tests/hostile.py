"""Files made to do harm: to run code, to fill memory, to read what is not theirs. Each writer makes one at a path."""

import io
import json
import os
import pickle
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pytest

SMALL = 1 << 20  # what the reads of these files may take: every one of them claims or unpacks to more
MARKER = "PHYSRANK_HARMED"


class Harm:
    """Unpickled, it leaves a mark in the environment."""

    def __reduce__(self):
        return exec, (f"import os; os.environ[{MARKER!r}] = '1'",)


def header(shape, dtype="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def npy_claims_terabytes(path):
    path.write_bytes(header((10**12,)) + bytes(64))


def npy_terabytes(path):
    """A sparse file that is as large as it says."""
    path.write_bytes(header((10**12,)))
    os.truncate(path, path.stat().st_size + 8 * 10**12)


def npy_objects(path):
    np.save(path, np.array([Harm(), Harm()], dtype=object), allow_pickle=True)


def npy_negative(path):
    path.write_bytes(header((-1, 4)) + bytes(64))


def npz_objects(path):
    np.savez(path, u=np.array([Harm()], dtype=object))


def npz_bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("u.npy", header((SMALL,)) + bytes(8 * SMALL))


def npz_lies(path):
    """The header claims more than the member holds."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("u.npy", header((10**12,)) + bytes(64))


def npz_claims_terabytes(path):
    """The directory of the archive claims terabytes, too."""
    npz_lies(path)
    content, size = path.read_bytes(), len(header((10**12,))) + 64
    path.write_bytes(content.replace(struct.pack("<I", size), struct.pack("<I", 0xFFFFFFF0)))


def npz_twice(path):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "w") as archive:
        for value in (1.0, 2.0):
            archive.writestr("u.npy", header((2,)) + np.full(2, value).tobytes())


def zip_of_nothing(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside.txt", "no array")


def pickled(path):
    path.write_bytes(pickle.dumps(Harm()))


def torch_object(path):
    pytest.importorskip("torch").save({"u": Harm()}, path)


def torch_module(path):
    torch = pytest.importorskip("torch")
    torch.save(torch.nn.Linear(2, 2), path)


def torch_old(path):
    torch = pytest.importorskip("torch")
    torch.save({"u": torch.zeros(3)}, path, _use_new_zipfile_serialization=False)


def torch_expanded(path):
    """One number, seen as terabytes through a stride of zero."""
    torch = pytest.importorskip("torch")
    torch.save({"u": torch.zeros(1, dtype=torch.float64).expand(10**12)}, path)


def torch_bytes(path):
    """A pickle that asks for a large piece of memory, with a type that torch itself lets pass."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "archive/data.pkl", b"\x80\x02cbuiltins\nbytearray\n" + pickle.dumps(1 << 40, 2)[2:-1] + b"\x85R."
        )
        archive.writestr("archive/version", "3\n")


def torch_hidden(path):
    """A name put together on the stack, where a search for names does not see it."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Harm(), 4))
        archive.writestr("archive/version", "3\n")


def safetensors(entry):
    def write(path):
        text = entry if isinstance(entry, bytes) else json.dumps({"u": entry}).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(64))

    return write


def safetensors_long_header(path):
    path.write_bytes(struct.pack("<Q", 1 << 40) + b"{}")


def h5(build):
    def write(path):
        with h5py.File(path, "w") as file:
            build(file, path)

    return write


def _elsewhere(file, path):
    other = path.with_name("secret.h5")
    with h5py.File(other, "w") as secret:
        secret["u"] = np.ones(4)
    return other


def h5_external_link(file, path):
    file["u"] = h5py.ExternalLink(_elsewhere(file, path), "u")


def h5_soft_link(file, path):
    file["hop"] = h5py.ExternalLink(_elsewhere(file, path), "/")
    file["u"] = h5py.SoftLink("/hop/u")


def h5_virtual(file, path):
    layout = h5py.VirtualLayout((4,), float)
    layout[:] = h5py.VirtualSource(_elsewhere(file, path), "u", (4,))
    file.create_virtual_dataset("u", layout)


def h5_external_data(file, path):
    secret = path.with_name("secret.txt")
    secret.write_bytes(b"secrets!" * 4)
    file.create_dataset("u", (4,), float, external=[(str(secret), 0, 32)])


def h5_link_in_a_series(file, path):
    for name in ("0000", "0001"):
        file[f"{name}/data"] = np.ones((3, 4, 4, 2))
    del file["0001/data"]
    file["0001/data"] = h5py.ExternalLink(_elsewhere(file, path), "u")


def h5_cycle(file, path):
    file["a/u"] = np.ones(3)
    file["a/b"] = file["/"]


def h5_deep(file, path):
    file["/".join("abcdefghij")] = np.ones(3)


def h5_claims_terabytes(file, path):
    file.create_dataset("u", (10**6, 10**6), float, chunks=(10, 10))


def h5_large_chunk(file, path):
    file.create_dataset("u", (2**27,), float, chunks=(2**27,))


def h5_bomb(file, path):
    dataset = file.create_dataset("u", (16,), float, chunks=(16,), compression="gzip")
    dataset.id.write_direct_chunk((0,), BOMB)


def h5_endless(path):
    """An empty object in the table of texts, at which the library would look for ever."""
    with h5py.File(path, "w") as file:
        file["u"] = np.ones(4)
        file.attrs["units"] = "of nothing"
    content = path.read_bytes()
    free = content.index((4096 - 48).to_bytes(8, "little"))
    path.write_bytes(content[:free] + (64).to_bytes(8, "little") + content[free + 8 :])


def claiming(content: bytes, text: bytes) -> bytes:
    """A file whose reference to this text claims three gigabytes."""
    start = content.index(b"GCOL")
    at = content.index(len(text).to_bytes(4, "little") + start.to_bytes(8, "little"))
    return content[:at] + (3 << 30).to_bytes(4, "little") + content[at + 4 :]


def h5_long_attribute(library, more=0):
    """A text attribute that claims gigabytes: among few, or among so many that they are stored elsewhere."""

    def write(path):
        with h5py.File(path, "w", libver=library) as file:
            file["u"] = np.ones(4)
            file.attrs["units"] = "of nothing"
            for k in range(more):
                file.attrs[f"more {k}"] = 1.0
        path.write_bytes(claiming(path.read_bytes(), b"of nothing"))

    return write


def h5_long_label(path):
    with h5py.File(path, "w") as file:
        file["u"] = np.ones((2, 4))
        file["model"] = ["a name of nothing", "b"]
    path.write_bytes(claiming(path.read_bytes(), b"a name of nothing"))


def h5_long_list(path):
    """A list of any length, such as netCDF's library follows, claiming gigabytes."""
    with h5py.File(path, "w") as file:
        file["u"] = np.ones(4)
        values = np.empty(1, object)
        values[0] = np.arange(3)
        file.attrs.create("list", values, dtype=h5py.vlen_dtype(int))
    path.write_bytes(claiming(path.read_bytes(), bytes(3)))


def nc_long_member(path):
    """A text inside of a structure, which netCDF's library reads as it opens a file."""
    text, kind = b"thirty bytes, which are enough", [("number", int), ("text", h5py.string_dtype())]
    with h5py.File(path, "w") as file:
        file["u"] = np.ones((4, 5))
        file["u"].attrs["pair"] = np.array([(1, text.decode())], kind)
    path.write_bytes(claiming(path.read_bytes(), text))


def nc_many_attributes(file, path):
    file["u"] = np.ones(4)
    for k in range(1001):
        file.attrs[f"number {k}"] = k


def h5_unknown_filter(file, path):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4,))
    plist.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, ())
    h5py.h5d.create(file.id, b"u", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((8,)), plist)


def h5_objects(file, path):
    file.create_dataset("u", (3,), h5py.ref_dtype)
    file.create_dataset("v", (3,), h5py.vlen_dtype(float))
    file["w"] = ["text", "more text"]
    file["s"] = np.zeros(3, [("a", float), ("b", int)])


def zarr_store(meta, **files):
    def write(path):
        pytest.importorskip("zarr")
        path.mkdir()
        (path / ".zarray").write_text(json.dumps(ZARRAY | meta))
        for name, content in files.items():
            (path / name.replace("_", ".")[1:]).write_bytes(content)

    return write


ZARRAY = {
    "zarr_format": 2, "shape": [16], "chunks": [16], "dtype": "<f8", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip


def zarr_link(path):
    secret = path.with_name("secret.bin")
    secret.write_bytes(b"secrets!" * 16)
    zarr_store({})(path)
    (path / "0").symlink_to(secret)


BOMB = zlib.compress(bytes(64 * SMALL))
ZSTD_LIAR = b"\x28\xb5\x2f\xfd\xe0" + (1 << 40).to_bytes(8, "little") + bytes(8)
BLOSC_LIAR = struct.pack("<BBBBIII", 2, 1, 1, 8, 2**31 - 64, 2**20, 64) + bytes(48)

# name of the file → (writer, words of the refusal)
EVERY = {
    "claims_terabytes.npy": (npy_claims_terabytes, "truncated or damaged"),
    "terabytes.npy": (npy_terabytes, r"takes 8 TB in memory; allowed are .* max_bytes=8000000000000"),
    "objects.npy": (npy_objects, "pickled Python objects"),
    "negative.npy": (npy_negative, "shape"),
    "objects.npz": (npz_objects, "pickled Python objects"),
    "bomb.npz": (npz_bomb, "max_bytes="),
    "lies.npz": (npz_lies, "contradicts"),
    "claims_terabytes.npz": (npz_claims_terabytes, "not possible|contradicts|not a readable"),
    "twice.npz": (npz_twice, "a name twice"),
    "nothing.zip": (zip_of_nothing, "without arrays"),
    "harm.pkl": (pickled, "is a pickle"),
    "harm.h5": (pickled, "is a pickle"),
    "object.pt": (torch_object, r"holds (builtins|__builtin__).exec, not only tensors"),
    "module.pth": (torch_module, "not only tensors"),
    "old.pt": (torch_old, "old torch file|is a pickle"),
    "expanded.pt": (torch_expanded, "max_bytes="),
    "bytes.pt": (torch_bytes, "holds builtins.bytearray"),
    "hidden.pt": (torch_hidden, "holds pickle.STACK_GLOBAL, not only tensors"),
    "header.safetensors": (safetensors_long_header, "claims a header"),
    "claims.safetensors": (safetensors({"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}), "cannot be"),
    "negative.safetensors": (safetensors({"dtype": "F64", "shape": [-1], "data_offsets": [8, 0]}), "cannot be"),
    "twice.safetensors": (safetensors(b'{"u": 1, "u": 2}'), "a name twice"),
    "list.safetensors": (safetensors(b"[1, 2]"), "not a readable"),
    "external_link.h5": (h5(h5_external_link), "points to another file"),
    "soft_link.h5": (h5(h5_soft_link), "points to another file|is a link"),
    "virtual.h5": (h5(h5_virtual), "takes its values from other files"),
    "external_data.h5": (h5(h5_external_data), "takes its values from other files"),
    "series.h5": (h5(h5_link_in_a_series), "points to another file"),
    "cycle.h5": (h5(h5_cycle), "appears twice|levels"),
    "deep.h5": (h5(h5_deep), "levels"),
    "claims_terabytes.h5": (h5(h5_claims_terabytes), "takes 8 TB in memory"),
    "large_chunk.h5": (h5(h5_large_chunk), "A chunk of dataset"),
    "bomb.h5": (h5(h5_bomb), "unpacks to more"),
    "endless.h5": (h5_endless, "table of texts is damaged"),
    "long-attribute.h5": (h5_long_attribute("earliest"), "claims more than"),
    "long-attribute-new.h5": (h5_long_attribute("latest"), "claims more than|checksum"),
    "long-attribute-of-many.h5": (h5_long_attribute("latest", 12), "claims more than|checksum"),
    "long-label.h5": (h5_long_label, "claims more than"),
    "long-list.h5": (h5_long_list, "claims more than"),
    "long-member.nc": (nc_long_member, "inside of a structure"),
    "many-attributes.nc": (h5(nc_many_attributes), "1,001 attributes"),
    "filter.h5": (h5(h5_unknown_filter), "filters \\[32015\\]"),
    "objects.h5": (h5(h5_objects), "holds no field of numbers"),
    "link.zarr": (zarr_link, "points out of the store"),
    "pickle.zarr": (zarr_store({"dtype": "|O", "filters": [{"id": "pickle"}]}), "packed with pickle"),
    "objects.zarr": (zarr_store({"dtype": "|O"}), "Python objects"),
    "large_chunk.zarr": (zarr_store({"shape": [10**12], "chunks": [10**12]}), "A chunk of"),
    "bomb.zarr": (zarr_store({"compressor": {"id": "zlib", "level": 9}}, _0=BOMB), "unpacks to more"),
    "zstd.zarr": (zarr_store({"compressor": {"id": "zstd", "level": 1}}, _0=ZSTD_LIAR), "claims more than it holds"),
    "blosc.zarr": (
        zarr_store({"compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}}, _0=BLOSC_LIAR),
        "claims more than it holds",
    ),
}  # fmt: skip
