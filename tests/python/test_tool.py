"""Functions of the package that call the tool, and the tool itself."""

from __future__ import annotations

import signal
import subprocess
import sys

import jitgemm as jg
import pytest
from jitgemm import _folders


def test_the_tool_comes_with_the_package():
    for command in ([sys.executable, "-m", "jitgemm"], [_folders.tool()]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == f"jitgemm {jg.__version__}"
    refused = subprocess.run([sys.executable, "-m", "jitgemm", "lst"], capture_output=True, text=True)
    assert refused.returncode == 2 and "list" in refused.stderr


@pytest.mark.parametrize("command", [[sys.executable, "-m", "jitgemm"], [_folders.tool()]], ids=["package", "tool"])
def test_the_tool_ends_silently_when_its_reader_stops(command):
    # More text than a pipe holds, so that the tool still writes when its reader has gone.
    listing = [*command, "list", "bf16 tt 4096 4096 4096", "--gpu", "h200", "--limit", "0"]
    with subprocess.Popen(listing, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE


def test_list():
    listed = jg.list("bf16 tn 4096 4096 4096", gpu="h200", limit=3)
    assert len(listed["candidates"]) == 3 and listed["candidates"][0]["predicted_microseconds"] > 100
    assert listed["gpu"]["name"] == "h200"
    assert jg.list("f32 tt 8 8 8", arch="sm_80", why=True)["rejected"]


@pytest.mark.parametrize(
    "ask, error, words",
    [
        (lambda: jg.list("bf16 tn 4096", arch="sm_80"), jg.SpecError, "expected type, layout, m, n, k"),
        (lambda: jg.list("bf16 tn 8 8 8", arch="sm_12"), ValueError, "sm_12"),
        (lambda: jg.list("tf32 tn 8 8 8", arch="sm_80"), jg.ConfigError, "tf32"),
        (lambda: jg.tune("f32 tt 8 8 8", budget="soon"), jg.UsageError, "soon"),
        (lambda: jg.bench("f32 tt 8 8 8", device="emulator"), jg.Error, "emulator"),
    ],
)
def test_errors_of_the_tool_are_exceptions(ask, error, words):
    with pytest.raises(error, match=words) as caught:
        ask()
    assert caught.value.reasons


def test_tuning_serves_this_process_too(monkeypatch, tmp_path):
    monkeypatch.setenv("JITGEMM_TUNING_DIR", str(tmp_path))
    before = jg.kernel("f32 tt 12 12 12", device="emulator:sm_80")
    told = []
    tuned = jg.tune(
        ["f32 tt 12 12 12"],
        progress=told.append,
        device="emulator:sm_80",
        family="simt_naive",
    )
    (problem,) = tuned["problems"]
    assert problem["winner"]["kernel"].startswith("simt_naive")
    assert any(document["event"] == "problem" for document in told)
    again = jg.kernel("f32 tt 12 12 12", device="emulator:sm_80", family="simt_naive")
    assert again.json["choice"] == "exact" and again.name == problem["winner"]["kernel"]
    assert before.name  # what was made stays


def test_a_callback_that_raises_ends_the_search(monkeypatch, tmp_path):
    monkeypatch.setenv("JITGEMM_TUNING_DIR", str(tmp_path))

    def give_up(document):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        jg.tune("f32 tt 12 12 12", progress=give_up, device="emulator:sm_80", family="simt_naive")


def test_shapes_of_a_file(tmp_path):
    shapes = tmp_path / "shapes.txt"
    shapes.write_text("f32 tt 8 8\n")
    with pytest.raises(jg.UsageError, match="shapes.txt:1: has 4 words"):
        jg.tune(shapes, device="emulator:sm_80")
    assert shapes.exists()


def test_doctor():
    report = jg.doctor()
    assert report["version"] == jg.__version__ and {check["name"] for check in report["checks"]} >= {
        "nvrtc",
        "emulator",
    }


def test_the_package_is_small_to_import():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, jitgemm; print(*sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"numpy", "torch", "json", "subprocess"} & set(done.stdout.split())


@pytest.mark.parametrize("shapes", [[5], ["f32 tt 8 8 8", None], [b"f32 tt 8 8 8"], ["\udc80"]])
def test_shapes_that_are_no_texts_leave_no_file(shapes, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for ask in (jg.bench, jg.tune):
        with pytest.raises((TypeError, UnicodeEncodeError), match="shapes|surrogates"):
            ask(shapes)
    assert list(tmp_path.iterdir()) == []


def test_a_problem_that_is_no_text_is_a_type_error():
    for spec in (5, None, b"f32 tt 8 8 8"):
        with pytest.raises(TypeError, match="spec"):
            jg.list(spec)


def test_entries_of_the_module_path_that_are_no_texts_are_passed_over(monkeypatch, tmp_path):
    folder = tmp_path / "packages"
    (folder / "nvidia" / "cu13" / "lib").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [None, 5, b"bytes", tmp_path, str(folder)])
    assert _folders.wheels() == str(folder)
