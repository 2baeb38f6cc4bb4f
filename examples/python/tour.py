"""A tour of jitgemm in Python. Every step is a cell. VS Code, Spyder and Jupytext run the file as a notebook.

`python3 tour.py` runs it as a script, which writes the cells' results to tour.html. The tour needs numpy and NVRTC.
It needs no GPU: the emulator runs the kernels.
"""

# %% A product of numpy's arrays, by a kernel that is made for it
import html
from pathlib import Path

import jitgemm as jg
import numpy as np

shown = []  # (title, what a notebook shows), for the page at the end


def show(title, value):
    drawing = getattr(value, "_repr_html_", lambda: None)()
    shown.append((title, drawing or f"<pre>{html.escape(str(value))}</pre>"))


rng = np.random.default_rng(0)
a = rng.integers(-3, 4, (48, 40)).astype("float16")
w = rng.integers(-3, 4, (56, 40)).astype("float16")
d = jg.matmul(a, w.T, device="emulator:sm_80")
assert (d == a.astype("float64") @ w.T.astype("float64")).all()
show("d = a @ w.T, its first rows", d[:4])

# %% A batch: three products in one launch, which share w
heads = rng.integers(-3, 4, (3, 48, 40)).astype("float16")
products = jg.matmul(heads, w.T, device="emulator:sm_80")
assert (products == heads.astype("float64") @ w.T.astype("float64")).all()
show("A batch of shape", products.shape)

# %% Groups: the rows of a in three groups, each with its own matrix. The second one is empty.
experts = rng.integers(-3, 4, (3, 40, 56)).astype("float16")
ends = np.array([20, 20, 48], "int32")
grouped = jg.grouped_matmul(a, experts, ends, device="emulator:sm_80")
assert (grouped[:20] == a[:20].astype("float64") @ experts[0].astype("float64")).all()
assert (grouped[20:] == a[20:].astype("float64") @ experts[2].astype("float64")).all()
show("Groups of 20, 0 and 28 rows", grouped[[0, 19, 20, 47], :8])

# %% The first kernel by itself: what was chosen, why, and the CUDA file that was compiled
k = jg.kernel("f16 tn 48 56 40", device="emulator:sm_80")
show("The kernel", k)
show("Why this one", k.explain())
show("Its source", k.source)
show("What a launch takes", "\n".join(map(str, k.launch_info)))

# %% What else could have served, in the order of the predicted times, on an H200
listed = jg.list("f16 tn 4096 4096 4096", gpu="h200", limit=5)
rows = [f"{each['predicted_microseconds']:8.2f} us  {each['kernel']}" for each in listed["candidates"]]
show(f"{listed['accepted_count']} candidates for 4096 x 4096 x 4096", "\n".join(rows))

# %% A layout is a function from coordinates to integers
tile = jg.layout("(8,8):(8,1)")
show(f"{tile}: a tile of shared memory, row by row", tile)

# %% Its algebra: quarters of the tile, and the same tile after a swizzle
show(f"{tile} / (4, 4) = {tile / (4, 4)}", tile / (4, 4))
swizzled = tile.swizzle(3, 0, 3)
show(f"{swizzled}: rows are permuted, so that a column meets no bank twice", swizzled)
assert len({swizzled(row, 0) % 8 for row in range(8)}) == 8

# %% Which thread of a warp holds what: eight rows of four threads, two values each
threads = jg.layout("((4,8),2):((2,8),1)")
show(f"{threads}: (thread, value) to the element of an 8x8 tile of D", threads)

# %% What is refused is told with every reason
try:
    jg.matmul(a[::-1], w.T[::-1], device="emulator:sm_80")
except jg.OperandError as error:
    show("Refused", "\n".join(error.reasons))

# %% The page
style = "body { font: 15px sans-serif; max-width: 60em; margin: 2em auto; } pre { overflow: auto; max-height: 24em; }"
cells = "\n".join(f"<h2>{html.escape(title)}</h2>\n{value}" for title, value in shown)
Path("tour.html").write_text(
    f"<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>jitgemm</title>\n<style>{style}</style>\n{cells}\n"
)
