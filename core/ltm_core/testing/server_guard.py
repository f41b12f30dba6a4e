"""Runs a server for as long as who started it lives: a script of its own, so that even SIGKILL leaves nothing behind.

Called as ``server_guard.py DIRECTORY SIGNAL LOG USER KEEP COMMAND…``. It prints the server's process id and waits at
its input: a line ends the server and keeps the directory, the end of the input (the starter closed it, or died) ends
the server and removes the directory, unless KEEP is not empty.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

PATIENCE = 10.0
"""Seconds between the polite signal and SIGKILL."""


def main(directory: str, polite: str, log: str, user: str, keep: str, *command: str) -> None:
    # Ctrl-C and a time limit reach the whole group; the end of our input is what ends us, after the tests' own end.
    # (A handler, because the server would inherit that the signal is ignored.)
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Path(log).open("ab") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=directory,
            start_new_session=True,
            user=user or None,
            group=group_of(user) if user else None,
            extra_groups=[] if user else None,
        )
    sys.stdout.write(f"{child.pid}\n")
    sys.stdout.flush()
    # A server that dies is collected at once, so that its id tells whether it lives.
    threading.Thread(target=child.wait, daemon=True).start()
    kept = sys.stdin.readline() != ""
    _end(child, int(polite))
    if not kept and not keep:
        shutil.rmtree(directory, ignore_errors=True)


def _end(child: subprocess.Popen[bytes], polite: int) -> None:
    child.send_signal(polite)
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def group_of(user: str) -> int:
    """The primary group of a system user."""
    import pwd

    return pwd.getpwnam(user).pw_gid


if __name__ == "__main__":
    main(*sys.argv[1:])
