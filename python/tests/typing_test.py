"""Type information of the package (py.typed): a user's script passes mypy --strict, and its mistakes are found."""
import os
import pathlib
import subprocess
import sys

import coterie

SCRIPT = pathlib.Path(__file__).parent / "typed_use.py"


def test_user_script_passes_mypy(tmp_path):
    package = pathlib.Path(coterie.__file__).parent
    assert (package / "py.typed").exists()
    # As for an installed package, errors inside it are not reported. A mistake that mypy does not find is an unused "type: ignore".
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path), str(SCRIPT)]
    done = subprocess.run(words, env={**os.environ, "MYPYPATH": str(package.parent)}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues found in 1 source file" in done.stdout
