"""Profiles of the property tests, and what every test starts from."""

from __future__ import annotations

import os

import hypothesis
import pytest

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100)
hypothesis.settings.register_profile("dev", deadline=None, max_examples=30)
hypothesis.settings.register_profile("deep", deadline=None, max_examples=5000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def shared_data():
    """The folder of sets that are not ours to ship; a test that needs one skips where it is absent."""
    from pathlib import Path

    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder of data sets that are not shipped is absent")
    return folder
