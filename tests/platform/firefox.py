"""Firefox as Debian ships it, driven by its own protocol Marionette: Playwright drives a Firefox of its own only.

A message is its length, a colon, and JSON: [0, number, command, parameters] one way, [1, number, error, answer] back.
https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
STARTED = 120.0  # s
ANSWERED = 120  # s that a script of the page may take; seconds on an idle machine
PREFERENCES = {
    "marionette.port": 0,  # one that is free, which it writes into its profile
    "network.proxy.type": 1,  # it reaches nothing: a proxy that is not there, for all but this machine
    "network.proxy.socks": "127.0.0.1",
    "network.proxy.socks_port": 9,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class FirefoxError(Exception):
    """What Firefox answers to a command that fails, or a Firefox that does not start."""


class Firefox:
    """One tab.   folder: for its profile"""

    def __init__(self, folder: Path) -> None:
        if FIREFOX is None:
            raise FirefoxError("firefox-esr is missing: run tests/platform/install (apt-get install firefox-esr)")
        profile = folder / "profile"
        profile.mkdir()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        self.numbers = count(1)
        self.closing = ExitStack()
        self.output = self.closing.enter_context((folder / "firefox.log").open("wb"))
        command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        environment = {**os.environ, "HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1"}
        self.process = subprocess.Popen(command, stdout=self.output, stderr=self.output, env=environment)
        self.closing.callback(self._end)
        try:
            self.connection = self.closing.enter_context(self._connected(profile / "MarionetteActivePort"))
            self.stream = self.closing.enter_context(self.connection.makefile("rb"))
            self._read()  # its greeting
            self.command("WebDriver:NewSession", {})
            self.command("WebDriver:SetTimeouts", {"script": 1000 * ANSWERED, "pageLoad": 1000 * ANSWERED})
        except BaseException:
            self.close()
            raise

    def _connected(self, port_file: Path) -> socket.socket:
        end = time.monotonic() + STARTED
        while time.monotonic() < end and self.process.poll() is None:
            text = port_file.read_text() if port_file.is_file() else ""
            if text.strip():
                return socket.create_connection(("127.0.0.1", int(text)), timeout=STARTED + ANSWERED)
            time.sleep(0.05)
        raise FirefoxError(f"{FIREFOX} opened no port within {STARTED:g} s; see {self.output.name}")

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            part = self.stream.read(1)
            if not part:
                raise FirefoxError(f"{FIREFOX} has ended; see {self.output.name}")
            length += part
        return json.loads(self.stream.read(int(length[:-1])))

    def command(self, name: str, parameters: dict[str, Any]) -> Any:
        """Raises FirefoxError."""
        message = json.dumps([0, next(self.numbers), name, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, answer = self._read()
        if error is not None:
            raise FirefoxError(f"{name}: {error['error']}: {error['message']}")
        return answer

    def open(self, url: str) -> None:
        self.command("WebDriver:Navigate", {"url": url})

    def evaluate(self, expression: str) -> Any:
        """An expression of the page's own scripts, awaited if it is a promise."""
        script = "const [text, done] = arguments; Promise.resolve(window.eval(text)).then(done, (e) => done('' + e));"
        parameters = {"script": script, "args": [expression], "sandbox": None}
        return self.command("WebDriver:ExecuteAsyncScript", parameters)["value"]

    def close(self) -> None:
        self.closing.close()

    def _end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Firefox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
