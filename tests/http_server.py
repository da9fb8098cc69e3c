#!/usr/bin/env python3
"""A small HTTP server that can fail in several ways, for the tests of downloads.

    http_server.py FOLDER [--seconds S] [--log FILE]

Serves the files of FOLDER on a free loopback port, prints the port on one line, and ends after S seconds. The first folder of the address
sets the behaviour:
    /plain/NAME     works correctly, with Range
    /norange/NAME   ignores Range and sends the whole file
    /cut/NAME       closes the connection half-way through the requested bytes, the first time only
    /alwayscut/NAME closes it each time, before the last byte
    /corrupt/NAME   sends the right number of wrong bytes
    /shifted/NAME   answers a Range request with another part of the file
    /missing/NAME   404
    /slow/NAME      sends a little, then waits
    /moved/NAME     redirects to /plain/NAME
Each request is written to the log: method, address and Range (or -).
"""
import argparse
import http.server
import os
import re
import threading
import time

arguments = argparse.ArgumentParser()
arguments.add_argument("folder")
arguments.add_argument("--seconds", type=float, default=120)
arguments.add_argument("--log")
options = arguments.parse_args()
already_cut = set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        asked = self.headers.get("Range")
        if options.log:
            with open(options.log, "a", encoding="utf-8") as log:
                log.write(f"GET {self.path} {asked or '-'}\n")
        _, how, name = self.path.split("/", 2)
        path = os.path.join(options.folder, os.path.basename(name))
        if how == "missing" or not os.path.isfile(path):
            return self.send_error(404)
        if how == "moved":
            self.send_response(302)
            self.send_header("Location", "/plain/" + name)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        with open(path, "rb") as file:
            content = file.read()
        if how == "corrupt":
            content = bytes(byte ^ 1 for byte in content)
        match = re.fullmatch(r"bytes=(\d+)-", asked or "")
        begin = int(match.group(1)) if match and how != "norange" else 0
        if match and how != "norange":
            if begin >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            if how == "shifted":
                begin = begin // 2
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        body = content[begin:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if how == "cut" and name not in already_cut:
            already_cut.add(name)
            body = body[: len(body) // 2]
            self.close_connection = True
        elif how == "alwayscut":
            body = body[: max(0, (len(body) - 1) // 2)]
            self.close_connection = True
        elif how == "slow":
            self.wfile.write(body[:1000])
            self.wfile.flush()
            time.sleep(20)
            body = body[1000:]
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
threading.Timer(options.seconds, lambda: os._exit(0)).start()
print(server.server_address[1], flush=True)
server.serve_forever()
