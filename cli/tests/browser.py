"""Headless Chromium, driven by the DevTools protocol over a pipe: what a page draws, logs, requests from the network, and does when clicked."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
import zlib

import numpy as np
import pytest


class Browser:
    def __init__(self, folder):
        program = shutil.which("chromium")
        if program is None:
            pytest.skip("chromium is not here")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def ends():  # the browser reads commands from 3 and writes to 4
            first, second = os.dup(to_read), os.dup(to_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--hide-scrollbars", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "--window-size=1200,1000", "about:blank"],
            preexec_fn=ends, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)})
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number, self._session = b"", 0, None
        self.events = []
        self.folder = folder
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self._write)
        os.close(self._read)
        self._process.kill()
        self._process.wait()

    def _message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            got = os.read(self._read, 1 << 20)
            assert got, "the browser has ended"
            self._buffer += got
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, seconds=120, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self._write, text):]
        while True:
            answer = self._message(seconds)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def run(self, script, seconds=120):
        """The value of a script, or of its promise."""
        answer = self.call("Runtime.evaluate", seconds, expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=f"file://{path}")
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message(120))

    def pixels(self, **part):
        """The pixels of the screen, or of the `clip` of the page: height x width x 3 (PNG without interlacing)."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", **part)["data"])
        at, packed = 8, b""
        while at < len(data):
            length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
            body = data[at + 8 : at + 8 + length]
            if kind == b"IHDR":
                width, height = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
                depth = {2: 3, 6: 4}[body[9]]
            elif kind == b"IDAT":
                packed += body
            at += 12 + length
        raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * depth)
        out = np.zeros((height, width * depth), np.uint8)
        for y in range(height):
            kind, line = raw[y, 0], raw[y, 1:].astype(int)
            above = out[y - 1].astype(int) if y else np.zeros(width * depth, int)
            if kind == 0:
                out[y] = line
            elif kind == 2:
                out[y] = (line + above) & 255
            else:
                row = [0] * (width * depth)
                for i in range(width * depth):
                    left = row[i - depth] if i >= depth else 0
                    up, corner = int(above[i]), int(above[i - depth]) if i >= depth else 0
                    if kind == 1:
                        guess = left
                    elif kind == 3:
                        guess = (left + up) // 2
                    else:
                        guess = min((left, up, corner), key=lambda each: abs(left + up - corner - each))
                    row[i] = (int(line[i]) + guess) & 255
                out[y] = row
        return out.reshape(height, width, depth)[:, :, :3]

    def mouse(self, kind, x, y, held=True):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if held or kind != "mouseMoved" else "none", buttons=1 if held else 0,
                  clickCount=1 if kind != "mouseMoved" else 0)


def complaints(browser):
    return [event for event in browser.events
            if event.get("method") == "Runtime.exceptionThrown"
            or event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning", "assert")
            or event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"]


def requests(browser):
    return [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]


def key(browser, name, code=0, text=None):
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **({"text": text} if text and kind == "keyDown" else {}))


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(colour) / 255]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)
