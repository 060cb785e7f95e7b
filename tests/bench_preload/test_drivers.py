# SPDX-License-Identifier: MIT
"""The servers of bench/preload: how they are set up, and what is made of what clients print."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief                                                        # noqa: E402
from built import SHIM                                              # noqa: E402

from preload.drivers import nginx, server                           # noqa: E402


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
        self.assertEqual(nginx.figures(said.format(4000, "1.00s")), (4000, 1.0))
        self.assertEqual(nginx.figures(said.format(40, "500.00ms")), (40, 0.5))
        self.assertEqual(nginx.figures(said.format(40, "1.50m")), (40, 90.0))
        for more in ("Socket errors: connect 1", "Non-2xx or 3xx responses: 3"):
            with self.assertRaises(server.Failed):
                nginx.figures(said.format(40, "1.00s") + more)
        with self.assertRaises(server.Failed):
            nginx.figures("nothing")

    def test_nginx_has_a_folder_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            nginx.prepare(folder, 12345)
            text = (folder / "nginx.conf").read_text("utf-8")
            self.assertIn("listen 127.0.0.1:12345;", text)
            self.assertNotIn("/var", text)
            self.assertEqual((folder / "files/file").stat().st_size, nginx.BYTES)


if __name__ == "__main__":
    brief.main()
