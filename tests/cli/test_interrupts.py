"""Ctrl-C at any moment: a sentence and 130, never a traceback, also where Python's own way fails."""

import os
import signal
import subprocess
import sys

import pytest

from physrank.cli import interrupts

PROGRAM = "from physrank.cli import app; app(['rank', 'a.h5'], prog_name='physrank')\n"
READY = "import time; ready = lambda: print('ready', flush=True)\n"
MOMENTS = {
    "while the program loads": "import sys, types\nclass Slow:\n    def find_spec(self, name, *_):\n"
    "        if name == 'physrank.cli.program': ready(); time.sleep(60)\nsys.meta_path.insert(0, Slow())\n",
    "in a command": "import physrank.cli.rank as command\ncommand.Stated.of = lambda *_: (ready(), time.sleep(60))\n",
    "where it is swallowed": "import physrank.cli.rank as command\ndef deaf(*_):\n    try: ready(); time.sleep(60)\n"
    "    except KeyboardInterrupt: pass\n    raise ValueError('went on')\ncommand.Stated.of = deaf\n",
    "where it is not heard": "import physrank.cli.rank as command, threading\n"
    "def busy(*_):\n    while True:\n        try: ready(); time.sleep(60)\n        except KeyboardInterrupt: pass\n"
    "command.Stated.of = busy\n",
    "in a callback": "import physrank.cli.rank as command\nclass Callback:\n    def __del__(self): ready(); time.sleep(60)\n"
    "def of(*_):\n    Callback()\n    raise ValueError('went on')\ncommand.Stated.of = of\n",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_control_c_is_a_sentence(moment):
    process = subprocess.Popen(
        [sys.executable, "-c", READY + MOMENTS[moment] + PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline().strip() == "ready"
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert interrupts.SENTENCE in said
    assert said.count("Interrupted") == 1 and "Traceback" not in said


def test_without_it_the_program_ends_as_it_does():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "Interrupted" not in done.stderr
