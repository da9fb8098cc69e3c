"""Files that are written whole or not at all."""
import os


def write_whole(path, data):
    """The bytes in a file of this name: at once, so that nobody finds half of them, also after an error."""
    part = f"{os.fspath(path)}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)
