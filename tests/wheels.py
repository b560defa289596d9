"""Wheels that installers of tests find in a folder."""

import zipfile
from pathlib import Path


def write_wheel(folder: Path, version: str) -> None:
    """Write the smallest wheel that there is: a zip file (PEP 427)."""
    folder.mkdir(exist_ok=True)
    about = f"greeting-{version}.dist-info"
    with zipfile.ZipFile(folder / f"greeting-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greeting.py", f"VERSION = {version!r}\n")
        metadata = f"Metadata-Version: 2.1\nName: greeting\nVersion: {version}\n"
        wheel.writestr(f"{about}/METADATA", metadata)
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{about}/WHEEL", tags)
        wheel.writestr(f"{about}/RECORD", "greeting.py,,\n")
