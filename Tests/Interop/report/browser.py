"""Debian's headless Chromium, driven over a pipe by the DevTools protocol."""
import base64
import json
import os
import subprocess
import tempfile


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
                   f"--user-data-dir={self.folder.name}", "about:blank"]
        # The protocol is on the descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec chromium "$@" 3<&{to_read} 4>&{to_write}', "chromium", *options],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self.out)
        self.process.terminate()
        self.process.wait(30)
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.into, 1 << 20)
            assert part, "the browser has ended"
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, scheme="light", width=1280, height=900):
        """Loads a file, and returns what happened during that."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.load("about:blank")
        self.load(path.as_uri())
        # Anything that a page begins late would be told before this answer.
        self.run("new Promise(done => setTimeout(done, 200))")
        return self.events

    def load(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def run(self, script):
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "rawKeyDown" else {}
            kind = "keyDown" if text else kind
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def screenshot(self, path):
        height = self.run("document.documentElement.scrollHeight")
        width = self.run("document.documentElement.clientWidth")
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": width, "height": min(height, 6000), "scale": 1})
        path.write_bytes(base64.b64decode(picture["data"]))
