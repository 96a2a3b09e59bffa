"""The command line ``partita``, which is inside the extension module of the package ``partita``."""

from __future__ import annotations

import signal
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

__all__ = ["main"]


def main() -> None:
    """Does what ``sys.argv`` says and ends the process, as the program ``partita`` does."""
    # The package is not imported: NumPy would take longer than most commands, and start threads before signals are arranged.
    package = find_spec("partita")
    assert package is not None, "the package lies beside this one"
    found = PathFinder.find_spec("partita._partita", package.submodule_search_locations)
    assert found is not None and found.loader is not None, "the package has an extension module"
    native = module_from_spec(found)
    found.loader.exec_module(native)
    # What Python arranged for itself.
    for name, handler in {"SIGINT": signal.default_int_handler, "SIGXFSZ": signal.SIG_IGN}.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is handler:
            signal.signal(number, signal.SIG_DFL)
    native.command_line(["partita", *sys.argv[1:]])
