#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""on-pty.py STEP... -- COMMAND: runs COMMAND on a terminal of its own and does the steps:

  size=ROWSxCOLS    of the terminal, before the start; later: changes it
  expect=TEXT       wait until the output has TEXT (after the last one expected)
  send=TEXT         type TEXT; \\n, \\x03 and the like are understood
  kill=SIGNAL       to the command
  raw               print "raw yes" or "raw no": whether the terminal passes every byte at once

Then waits for the end and prints: output (as Python shows a string), status, and whether the
terminal's settings are as they were. Used by tty.sh."""

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

LIMIT = float(os.environ.get('HUSK_TEST_LIMIT', '60'))


class Terminal:
    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.output = b''
        self.seen = 0
        self.before = termios.tcgetattr(self.slave)
        self.process = None

    def resize(self, text):
        rows, cols = map(int, text.split('x'))
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))

    def start(self, command):
        def become_session():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command, stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, preexec_fn=become_session)

    def pump(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            self.output += os.read(self.master, 65536)
        except OSError as err:
            if err.errno != errno.EIO:
                raise
        return True

    def expect(self, text):
        want = text.encode()
        end = time.monotonic() + LIMIT
        while True:
            at = self.output.find(want, self.seen)
            if at >= 0:
                self.seen = at + len(want)
                return
            if time.monotonic() > end or (self.process.poll() is not None and
                                          not self.pump(0.2)):
                print('missing %r' % text)
                return
            self.pump(0.05)

    def raw(self):
        local = termios.tcgetattr(self.slave)[3]
        print('raw', 'no' if local & (termios.ICANON | termios.ECHO | termios.ISIG) else 'yes')

    def finish(self):
        end = time.monotonic() + LIMIT
        while self.process.poll() is None:
            self.pump(0.05)
            if time.monotonic() > end:
                print('does not end')
                self.process.kill()
        while self.pump(0.1):
            pass
        print('output %r' % self.output.decode(errors='replace'))
        code = self.process.returncode
        print('status', code if code >= 0 else 128 - code)
        print('restored', 'yes' if termios.tcgetattr(self.slave) == self.before else 'no')


def main():
    split = sys.argv.index('--')
    steps = [step.partition('=')[::2] for step in sys.argv[1:split]]
    terminal = Terminal()
    started = False
    for name, value in steps:
        if not started and name != 'size':
            terminal.start(sys.argv[split + 1:])
            started = True
        if name == 'size':
            terminal.resize(value)
        elif name == 'expect':
            terminal.expect(value)
        elif name == 'send':
            os.write(terminal.master, value.encode().decode('unicode_escape').encode('latin-1'))
        elif name == 'kill':
            terminal.process.send_signal(getattr(signal, 'SIG' + value))
        elif name == 'raw':
            terminal.raw()
        else:
            sys.exit('on-pty.py: unknown step ' + name)
    if not started:
        terminal.start(sys.argv[split + 1:])
    terminal.finish()


main()
