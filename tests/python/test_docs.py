"""Every sample of docs/python.md and README.md runs, and so does the tour. Some samples need a GPU or torch."""

from __future__ import annotations

import csv
import re
import runpy
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jitgemm as jg
import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PAGES = ("docs/python.md", "README.md")


def samples(kind, name="docs/python.md"):
    """The page's blocks of that kind, as one program whose lines are where the page has them."""
    page = (ROOT / name).read_text()
    program = [""] * page.count("\n")
    for block in BLOCK.finditer(page):
        if (block[1] or "") == kind:
            line = page[: block.start(2)].count("\n")
            lines = block[2].splitlines()
            program[line : line + len(lines)] = lines
    assert any(program)
    return compile("\n".join(program), name, "exec")


def test_samples_for_everyone(capsys):
    pytest.importorskip("numpy")
    exec(samples(""), {})
    printed = capsys.readouterr().out
    assert "neither its rows nor" in printed and "__global__" in printed and "Why this one" in printed


def test_the_first_sample_of_all_runs_without_a_gpu(capsys):
    pytest.importorskip("numpy")
    try:
        exec(samples("", "README.md"), {})
    finally:
        jg.set_device(None)
    assert "Why this one" in capsys.readouterr().out


def test_the_sample_of_single_precision_finds_eigenvalues(capsys):
    np = pytest.importorskip("numpy")
    jg.set_device("emulator:sm_90a")
    try:
        names = {}
        exec(samples("", "docs/single-precision.md"), names)
    finally:
        jg.set_device(None)
    printed = [float(word) for word in capsys.readouterr().out.strip(" []\n").split()]
    assert np.allclose(printed, [1, 1 / 2, 1 / 3, 1 / 4], atol=1e-5)


def test_samples_for_torch(capsys):
    pytest.importorskip("torch", minversion="2.6")
    exec(samples("torch"), {})
    assert "['0', '2']" in capsys.readouterr().out


@pytest.mark.gpu
def test_samples_for_a_gpu(monkeypatch, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("cupy")
    monkeypatch.setenv("JITGEMM_TUNING_DIR", str(tmp_path))
    for page in PAGES:
        exec(samples("gpu", page), {})


def test_every_block_has_a_test():
    kinds = {block[1] or "" for page in PAGES for block in BLOCK.finditer((ROOT / page).read_text())}
    assert kinds == {"", "torch", "gpu"}


def test_the_tour(monkeypatch, tmp_path):
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "python" / "tour.py"))
    page = (tmp_path / "tour.html").read_text()
    assert page.count("<svg") >= 4 and "__global__" in page and "Groups of 20, 0 and 28 rows" in page


def test_readme_shows_the_table_of_speedups(tmp_path):
    """README's table and its picture are those of bench/speedups.csv."""
    readme = (ROOT / "README.md").read_text()
    data = ROOT / "bench" / "speedups.csv"
    with data.open(newline="") as file:
        for row in csv.DictReader(file):
            assert f"| {row['problems']} | {row['count']} | {row['speedup']} | {row['seen']} |" in readme
    out = tmp_path / "speedups.svg"
    subprocess.run([sys.executable, ROOT / "scripts" / "plot-speedups.py", "--out", out], check=True)
    assert out.read_text() == (ROOT / "docs" / "speedups.svg").read_text()


def test_a_plot_of_serving_has_a_line_for_each_run(tmp_path):
    """The ends of a line are the fastest and the slowest request, on a scale of powers of ten."""
    for name, us in {"fast": [0.1] * 99 + [1.0], "slow": [10.0] * 90 + [1000.0] * 10}.items():
        rows = [f'"{name}",{i},1,2,3,{time}' for i, time in enumerate(us)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["name,request,m,n,k,us", *rows]) + "\n")
    files, out = [tmp_path / "fast.csv", tmp_path / "slow.csv"], tmp_path / "serving.svg"
    subprocess.run([sys.executable, ROOT / "scripts" / "plot-serving.py", *files, "--out", out], check=True)
    picture = ElementTree.parse(out).getroot()
    words = [element.text for element in picture.findall(".//{*}text")]
    assert {"fast", "slow", "0 %", "90 %", "99 %", "1 ms", "0.1 µs"} <= set(words)
    lines = [element.get("points").split() for element in picture.findall(".//{*}polyline")]
    fast, slow = ([float(point.split(",")[1]) for point in points] for points in lines)
    decade = (fast[0] - slow[-1]) / 4  # from 0.1 to 1000 us
    assert fast[0] - fast[-1] == pytest.approx(decade, abs=0.2)
    assert fast[0] - slow[0] == pytest.approx(2 * decade, abs=0.2)
    assert fast == sorted(fast, reverse=True) and slow == sorted(slow, reverse=True)
