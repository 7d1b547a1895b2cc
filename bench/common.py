# SPDX-License-Identifier: Apache-2.0
"""What the scripts in bench/ share: finding husk, compiling the small programs, launching all
columns in turns, statistics, the table and the JSON file."""

import argparse
import atexit
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)


def find_husk():
    """The binary to measure: $HUSK, ./husk, build/husk; exits 77 when there is none."""
    tried = [os.environ.get('HUSK'), 'husk', 'build/husk', os.path.join(TREE, 'husk'),
             os.path.join(TREE, 'build/husk')]
    for path in filter(None, tried):
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.abspath(path)
    print('husk is not built (looked at $HUSK, ./husk, build/husk)', file=sys.stderr)
    sys.exit(77)


def arguments(text, rounds):
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument('--json', metavar='FILE', help='write the results there as well')
    parser.add_argument('--rounds', type=int, default=rounds, metavar='N',
                        help='measured rounds (default %(default)s)')
    return parser.parse_args()


class Workshop:
    """A temporary directory with the compiled programs; husk shows it as current directory."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix='husk-bench.')
        os.chmod(self.path, 0o755)
        atexit.register(shutil.rmtree, self.path, ignore_errors=True)

    def compile(self, source, kind):
        """kind: musl (static), glibc (static) or dynamic. None when that compiler is missing."""
        out = os.path.join(self.path, '%s-%s' % (source, kind))
        command = {
            'musl': ['musl-gcc', '-static', '-idirafter', '/usr/include',
                     '-idirafter', '/usr/include/x86_64-linux-gnu'],
            'glibc': ['cc', '-static'],
            'dynamic': ['cc'],
        }[kind]
        if not shutil.which(command[0]):
            print('# %s is missing: no %s column' % (command[0], kind))
            return None
        subprocess.run(command + ['-std=gnu11', '-O2', '-o', out,
                                  os.path.join(HERE, source + '.c')], check=True)
        return out


def probe(command, cwd):
    """None if the command works, else one line that says why not."""
    try:
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as err:
        return str(err)
    if done.returncode == 0:
        return None
    said = done.stderr.decode(errors='replace').strip().splitlines()
    return 'status %d%s' % (done.returncode, ': ' + said[-1][:150] if said else '')


def usable(columns, cwd):
    """Drops the columns that do not work here, each with a line that says so."""
    kept = {}
    for name, command in columns.items():
        why = probe(command, cwd)
        if why:
            print('# skipped: %s: %s' % (name, why))
        else:
            kept[name] = command
    return kept


def launch_all(launcher, columns, rounds, cwd):
    """Runs every column's command in turns; name -> list of microseconds."""
    command = [launcher, str(rounds)]
    for words in columns.values():
        command += ['---'] + words
    names = list(columns)
    out = subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout
    times = {name: [] for name in names}
    for line in out.splitlines():
        index, took_ns, _, status = map(int, line.split())
        if status:
            raise SystemExit('%s: status %d while it was measured' % (names[index], status))
        times[names[index]].append(took_ns / 1000)
    return times


def summary(values):
    """Median, minimum, and the spread: the distance between the quartiles."""
    values = sorted(values)
    spread = 0.0
    if len(values) > 3:
        quarters = statistics.quantiles(values, n=4)
        spread = quarters[2] - quarters[0]
    return {'median': statistics.median(values), 'min': values[0], 'spread': spread,
            'n': len(values)}


def host():
    model = 'unknown'
    with open('/proc/cpuinfo') as file:
        for line in file:
            if line.startswith('model name'):
                model = line.split(':', 1)[1].strip()
                break
    kinds = sorted(name for name in os.listdir('/sys/module')
                   if name.startswith('kvm_')) or ['none' if not os.path.exists('/dev/kvm')
                                                   else 'unknown']
    return {'kernel': os.uname().release, 'cpu': model, 'cpus': os.cpu_count(),
            'kvm': ' '.join(kinds), 'load': os.getloadavg()[0]}


def print_host():
    facts = host()
    print('# host: Linux %(kernel)s, %(cpu)s, %(cpus)d CPUs, kvm: %(kvm)s, load %(load).2f' %
          facts)
    return facts


def print_table(head, rows):
    """rows: lists of strings and numbers; the first cell is the name."""
    def text(cell):
        if isinstance(cell, float):
            return '%.2f' % cell if cell < 100 else '%.0f' % cell
        return '-' if cell is None else str(cell)

    cells = [list(map(text, row)) for row in [head] + rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        print('  '.join([row[0].ljust(widths[0])] +
                        [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip())


def write_json(path, bench, unit, facts, results):
    if not path:
        return
    with open(path, 'w') as file:
        json.dump({'bench': bench, 'unit': unit, 'host': facts, 'results': results}, file,
                  indent=1)
        file.write('\n')
