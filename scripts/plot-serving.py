#!/usr/bin/env python3
"""Draw how long the requests of bench/serving.cpp wait, docs/serving.svg, from the files that its --csv writes.

    jitgemm_serving --mode sets --csv sets.csv
    jitgemm_serving --mode serve --csv serve.csv
    scripts/plot-serving.py sets.csv serve.csv [--out FILE] [--device "NVIDIA H200"]

The picture has one line for each run. It gives the time that a share of all requests stays below, so that the few
slowest requests take as much room as all others. The script needs no package.
"""

from __future__ import annotations

import argparse
import csv
import html
import math
import pathlib

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 760, 400  # pixels
LEFT, RIGHT, TOP, BOTTOM = 80, 150, 48, 56  # around the plot; the lines' names stand on its right
COLORS = ("#3b6fb6", "#c8553d", "#4d9078", "#8d6a9f", "#b8860b")
POINTS_PER_DECADE = 40


def read(paths: list[pathlib.Path]) -> dict[str, list[float]]:
    """Sorted microseconds by the name of a run."""
    runs: dict[str, list[float]] = {}
    for path in paths:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                runs.setdefault(row["name"], []).append(float(row["us"]))
    if not runs:
        raise SystemExit("plot-serving.py: the files have no requests")
    return {name: sorted(times) for name, times in runs.items()}


def quantiles(times: list[float]) -> list[tuple[float, float]]:
    """Pairs of the number of nines and microseconds: 2 is 99 %. The last one is the slowest request."""
    most = math.log10(len(times))
    steps = max(1, math.ceil(most * POINTS_PER_DECADE))
    pairs = []
    for i in range(steps + 1):
        nines = most * i / steps
        place = min(len(times) - 1, math.floor(len(times) * (1 - 10**-nines)))
        pairs.append((nines, times[place]))
    return [*pairs[:-1], (most, times[-1])]


class Plot:
    def __init__(self, runs: dict[str, list[float]]) -> None:
        self.runs = runs
        self.most_nines = max(1.0, max(math.log10(len(times)) for times in runs.values()))
        self.low = math.floor(math.log10(max(1e-3, min(times[0] for times in runs.values()))))
        self.high = max(self.low + 1, math.ceil(math.log10(max(times[-1] for times in runs.values()))))

    def x(self, nines: float) -> float:
        return LEFT + nines / self.most_nines * (WIDTH - LEFT - RIGHT)

    def y(self, us: float) -> float:
        share = (math.log10(max(us, 10.0**self.low)) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def axes(self) -> list[str]:
        lines = []
        for power in range(self.low, self.high + 1):
            y = self.y(10.0**power)
            lines.append(line(LEFT, y, WIDTH - RIGHT, y))
            lines.append(text(LEFT - 8, y + 4, time_text(power), ' text-anchor="end"'))
        for nines in range(math.floor(self.most_nines) + 1):
            x = self.x(nines)
            lines.append(line(x, TOP, x, HEIGHT - BOTTOM))
            lines.append(text(x, HEIGHT - BOTTOM + 18, share_text(nines), ' text-anchor="middle"'))
        title = "share of requests that wait no longer"
        lines.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, title, ' text-anchor="middle"'))
        return lines

    def curves(self) -> list[str]:
        lines = []
        ends: list[float] = []
        for i, (name, times) in enumerate(self.runs.items()):
            points = [(self.x(nines), self.y(us)) for nines, us in quantiles(times)]
            color = COLORS[i % len(COLORS)]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            lines.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
            end = points[-1][1] + 4
            while any(abs(end - other) < 15 for other in ends):
                end -= 15
            ends.append(end)
            lines.append(text(points[-1][0] + 8, end, name, f' fill="{color}"'))
        return lines


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}"{more}>{html.escape(words, quote=False)}</text>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def time_text(power: int) -> str:
    """Of a power of ten microseconds."""
    unit, exponent = ("s", 6) if power >= 6 else ("ms", 3) if power >= 3 else ("µs", 0)
    return f"{10.0 ** (power - exponent):g} {unit}"


def share_text(nines: int) -> str:
    return f"{100 * (1 - 10.0**-nines):.{max(0, nines - 2)}f} %"


def picture(runs: dict[str, list[float]], device: str) -> str:
    plot = Plot(runs)
    title = "Time of a request for a kernel" + (f", {device}" if device else "")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13" fill="#222">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        text(LEFT, 24, title, ' font-weight="bold"'),
        *plot.axes(),
        *plot.curves(),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=pathlib.Path, help="files that bench/serving.cpp has written")
    parser.add_argument("--out", type=pathlib.Path, default=REPOSITORY / "docs" / "serving.svg")
    parser.add_argument("--device", default="", help="for the title")
    options = parser.parse_args()
    options.out.write_text(picture(read(options.data), options.device))


if __name__ == "__main__":
    main()
