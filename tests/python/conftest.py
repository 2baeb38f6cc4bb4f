"""The tests share a cache of their own, and numbers whose products are exact."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory):
    """Neither the user's cache nor what they tuned has a part in a test. Set before the first kernel is asked for."""
    folder = os.environ.get("JITGEMM_TEST_CACHE") or str(tmp_path_factory.mktemp("jitgemm"))
    os.environ["JITGEMM_CACHE_DIR"] = folder
    os.environ["JITGEMM_TUNING_DIR"] = str(tmp_path_factory.mktemp("tuning"))


@pytest.fixture
def epilogues(monkeypatch):
    """The texts of the products that are asked for."""
    import jitgemm as jg

    seen = []
    real = jg._core.matmul

    def matmul(*arrays, **options):
        seen.append(options.get("epilogue"))
        return real(*arrays, **options)

    monkeypatch.setattr(jg._core, "matmul", matmul)
    return seen


def small_integers(shape, dtype="float32", seed=0):
    """Every partial sum of their products is exact in f32. Small results are exact in f16 and bf16, too."""
    import numpy as np

    rng = np.random.default_rng([seed, *shape])
    return rng.integers(-3, 4, shape).astype(dtype)


def has_gpu():
    return any(name.startswith("nvidia") and name[6:].isdigit() for name in os.listdir("/dev"))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "test_jax" in item.nodeid)  # last: JAX's threads go badly with tests that fork
    if has_gpu():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="no GPU"))
