"""The tox runner ``shared``: environments of one ``env_dir`` share one installation.

TensorFlow and TVM take over a gigabyte and minutes to install. tox rebuilds an environment when another
name last used its folder; here only a change of Python, dependencies or constraints does that. The package is
installed editable, so installing it again is needed only after ``pyproject.toml`` has changed.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock
from tox.plugin import impl
from tox.tox_env.api import ToxEnv
from tox.tox_env.errors import Fail
from tox.tox_env.info import Info
from tox.tox_env.python.virtual_env.runner import VirtualEnvRunner
from tox.tox_env.register import ToxEnvRegister

# tox.ini names the folder of the environments that run on the Python of tox itself by this variable.
os.environ["TOX_OWN_PYTHON"] = f"py{sys.version_info.major}{sys.version_info.minor}"


class _NamelessInfo(Info):
    """What tox remembers of an environment folder, but for the name of the environment that used it last."""

    @contextmanager
    def compare(
        self, value: Any, section: str, sub_section: str | None = None
    ) -> Iterator[tuple[bool, Any | None]]:
        if section == ToxEnv.__name__:
            value = {**value, "name": "shared"}
        with super().compare(value, section, sub_section) as answer:
            yield answer


class SharedRunner(VirtualEnvRunner):
    """A virtual environment whose folder may serve several tox environments."""

    _recreated: frozenset[Path] = frozenset()

    @staticmethod
    def id() -> str:
        return "shared"

    @property
    def cache(self) -> Info:
        return _NamelessInfo(self.env_dir)

    def setup(self) -> None:
        lock = self.env_dir.with_suffix(".lock")
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock):
            try:
                super().setup()
            except SystemExit:
                # pip failed, and tox has shown what it said, which names a conflict even where the index is
                # out of reach.
                raise Fail("its dependencies cannot be installed: is there a network?") from None

    def _clean(self, transitive: bool = False) -> None:
        # With --recreate each environment asks; the second one would throw the first one's work away.
        if transitive and self.env_dir in SharedRunner._recreated:
            return
        SharedRunner._recreated |= {self.env_dir}
        super()._clean(transitive)

    def _setup_pkg(self) -> None:
        metadata = (self.core["tox_root"] / "pyproject.toml").read_bytes()
        installed = {
            "pyproject": hashlib.sha256(metadata).hexdigest(),
            "extras": sorted(self.conf["extras"]),
            "root": str(self.core["tox_root"]),
        }
        with self.cache.compare(installed, SharedRunner.__name__) as (same, _):
            if same:
                return
        # Forgotten while it runs, because an installation that fails must be tried again; and recorded by a
        # second look, because the installation itself writes to the same file.
        with self.cache.compare({}, SharedRunner.__name__):
            pass
        super()._setup_pkg()
        with self.cache.compare(installed, SharedRunner.__name__):
            pass


@impl
def tox_register_tox_env(register: ToxEnvRegister) -> None:
    register.add_run_env(SharedRunner)
