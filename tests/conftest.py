"""Assertions inside the shipped contract suites are explained like those of the tests."""

import pytest

pytest.register_assert_rewrite("ltm_core.testing")
