"""Files that are written completely or not at all."""
import os


def write_whole(path, data):
    """Writes the bytes to the file `path`. Readers never see a part of the file, even after an error."""
    part = f"{os.fspath(path)}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)
