#!/usr/bin/env python3
"""Draw README's picture of the speed-ups over cuBLASLt, docs/speedups.svg, from bench/speedups.csv.

    scripts/plot-speedups.py [--data FILE] [--out FILE]

Each row of the data is a class of problems: its name, the number of problems, the geometric mean of the speed-ups, and
whether the cost model's constants were fitted to these problems (no, some). The script needs no package.
"""

from __future__ import annotations

import argparse
import csv
import html
import pathlib

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
WIDTH, LEFT, RIGHT = 760, 250, 70  # pixels: the picture, names before the bars, figures behind them
TOP, ROW, BAR = 48, 30, 18  # title, distance between bars, height of a bar
COLORS = {"no": "#3b6fb6", "some": "#a9bfdc"}


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}"{more}>{html.escape(words, quote=False)}</text>'


def bar(index: int, row: dict[str, str], scale: float) -> list[str]:
    top = TOP + index * ROW
    speedup = float(row["speedup"])
    return [
        text(LEFT - 10, top + 14, f"{row['problems']} ({row['count']} problems)", ' text-anchor="end"'),
        f'<rect x="{LEFT}" y="{top}" width="{speedup * scale:.0f}" height="{BAR}" fill="{COLORS[row["seen"]]}"/>',
        text(LEFT + speedup * scale + 6, top + 14, f"{speedup:.2f}×"),
    ]


def picture(rows: list[dict[str, str]]) -> str:
    scale = (WIDTH - LEFT - RIGHT) / max(float(row["speedup"]) for row in rows)
    bottom = TOP + len(rows) * ROW
    parity = LEFT + scale
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 50}" font-family="sans-serif" '
        'font-size="13" fill="#222">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        text(LEFT, 24, "Speed-up over cuBLASLt's best algorithm, NVIDIA H200", ' font-weight="bold"'),
    ]
    for index, row in enumerate(rows):
        lines += bar(index, row, scale)
    lines += [
        f'<line x1="{parity:.0f}" y1="{TOP - 8}" x2="{parity:.0f}" y2="{bottom}" stroke="#222" '
        'stroke-dasharray="3 3"/>',
        text(parity, bottom + 14, "cuBLASLt = 1", ' text-anchor="middle"'),
        text(10, bottom + 38, "Dark: the cost model had not seen these problems. Light: it had seen some of them."),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=REPOSITORY / "bench" / "speedups.csv")
    parser.add_argument("--out", type=pathlib.Path, default=REPOSITORY / "docs" / "speedups.svg")
    options = parser.parse_args()
    with options.data.open(newline="") as file:
        options.out.write_text(picture(list(csv.DictReader(file))))


if __name__ == "__main__":
    main()
