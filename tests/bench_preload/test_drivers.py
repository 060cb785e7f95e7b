# SPDX-License-Identifier: MIT
"""The servers of bench/preload: how they are set up, and what is made of what clients print."""

import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief                                                        # noqa: E402
from built import SHIM                                              # noqa: E402

from preload.drivers import apache, haproxy, nginx, server          # noqa: E402
from preload.drivers import ssh, wrk                                # noqa: E402


class Drivers(unittest.TestCase):
    def test_what_is_preloaded_into_which(self):
        with mock.patch.dict(os.environ, {server.SERVER: "/s.so"}):
            self.assertEqual(server.preloaded(server.SERVER)["LD_PRELOAD"], "/s.so")
            self.assertEqual(server.preloaded(server.CLIENT).get("LD_PRELOAD"),
                             os.environ.get("LD_PRELOAD"))

    def test_a_server_without_it_fails(self):
        """As one that is linked statically, or has dropped its environment."""
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            with subprocess.Popen(["sleep", "60"]) as child:
                server.check_loaded(child, log)
                with mock.patch.dict(os.environ, {server.SERVER: str(SHIM)}):
                    with self.assertRaisesRegex(server.Failed, "not preloaded"):
                        server.check_loaded(child, log)
                child.kill()

    def test_a_client_without_it_fails(self):
        with self.assertRaisesRegex(server.Failed, "cannot be preloaded"):
            server.call(["true"], env={**os.environ, "LD_PRELOAD": "/nowhere.so"})

    def test_wrk(self):
        said = "  {} requests in {}, 1.23MB read\n"
        self.assertEqual(wrk.figures(said.format(4000, "1.00s")), (4000, 1.0))
        self.assertEqual(wrk.figures(said.format(40, "500.00ms")), (40, 0.5))
        self.assertEqual(wrk.figures(said.format(40, "1.50m")), (40, 90.0))
        for more in ("Socket errors: connect 1", "Non-2xx or 3xx responses: 3"):
            with self.assertRaises(server.Failed):
                wrk.figures(said.format(40, "1.00s") + more)
        with self.assertRaises(server.Failed):
            wrk.figures("nothing")

    def test_each_has_a_folder_of_its_own(self):
        for module, name, listens in ((nginx, "nginx", "listen 127.0.0.1:12345;"),
                                      (apache, "apache", "Listen 127.0.0.1:12345\n")):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                module.prepare(folder, 12345)
                text = (folder / f"{name}.conf").read_text("utf-8")
                self.assertIn(listens, text)
                self.assertNotIn("/var", text)
                self.assertEqual((folder / "files/file").stat().st_size, module.BYTES)

    def test_haproxy_is_in_front_of_another(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            with mock.patch.object(server, "find", return_value="haproxy"):
                port, _ = haproxy.started(folder, "front", haproxy.FRONT, origin=12345)
            text = (folder / "front.cfg").read_text("utf-8")
            self.assertIn(f"bind 127.0.0.1:{port}\n", text)
            self.assertIn("server origin 127.0.0.1:12345\n", text)

    def test_a_line_there_and_back(self):
        """Of ssh only the end that it gives: the line must be the same."""
        with subprocess.Popen("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              bufsize=0) as client:
            operations, seconds = ssh.turns(client, 0.001)
        self.assertEqual(operations % ssh.STRIDE, 0)
        self.assertGreaterEqual(seconds, 0.001)
        other = SimpleNamespace(stdin=io.BytesIO(), stdout=io.BytesIO(ssh.LINE.upper()))
        with self.assertRaises(server.Failed):
            ssh.turns(other, 0.001)

    def test_a_client_says_when_it_is_warm(self):
        with mock.patch.object(server, "begin") as begin:
            said = "echo begin; echo '{\"ops\": 4, \"seconds\": 2.0}'"
            self.assertEqual(server.measured(["sh", "-c", said]), (4, 2.0))
            begin.assert_called_once_with()
        for said in ("echo nothing", "echo '{}'", "exit 1"):
            with self.assertRaises(server.Failed):
                server.measured(["sh", "-c", said])

    def test_where_servers_are(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(server, "SERVERS", (folder,)):
            self.assertIsNone(server.find("a-server-of-no-name"))
            path = pathlib.Path(folder, "a-server-of-no-name")
            path.touch()
            self.assertEqual(server.find(path.name), str(path))


if __name__ == "__main__":
    brief.main()
