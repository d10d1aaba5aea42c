"""The command line of the twin. `make` calls it; every command says what it does with --help."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType

from tools.local import aws, describe, process, twin
from tools.local.config import Twin, forget_aws, twin_from
from tools.local.console import TwinError, complain, say, timed
from tools.local.demo import Demo
from tools.local.show import show

DESCRIPTION = """\
The local twin: the real CDK app on MiniStack, an AWS emulator that runs the Lambdas with the local Python.
It lives in .local/ (LEAD_EVENTS_LOCAL_DIR) on port 4566 of 127.0.0.1 (LEAD_EVENTS_LOCAL_PORT).
What it stores is in memory and gone when it stops."""

NOISE = ("START RequestId", "END RequestId", "REPORT RequestId", '{"_aws"')
"""How the lines begin that the runtime writes, and those that are metrics."""


def main(arguments: Sequence[str]) -> int:
    """Runs one command; answers the exit code."""
    options = _parser().parse_args(arguments)
    command: Callable[[Twin, argparse.Namespace], int] = options.command
    forget_aws()
    # A killed run cleans up as an interrupted one does.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return command(twin_from(), options)
    except TwinError as error:
        complain(f"\n{error}")
        return 1
    except KeyboardInterrupt:
        complain("\ninterrupted")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.local", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, command, text in (
        ("up", _up, "start the twin and deploy onto it; already up: deploy what changed and renew the tokens"),
        ("down", _down, "stop the twin"),
        ("run", _run, "up, then send a story through every entrance, show timeline and memories and stay until Ctrl-C"),
        ("status", _status, "say whether the twin runs, and where"),
        ("token", _token, "print an access token of the running twin"),
        ("logs", _logs, "print what the functions logged in the last minutes"),
    ):
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=command)
        if command is _run:
            sub.add_argument("--once", action="store_true", help="end after they were shown (also ONCE=1)")
        if command is _logs:
            sub.add_argument("--minutes", type=float, default=10.0, help="how far back (default: 10)")
        if command is _token:
            sub.add_argument("name", nargs="?", help="platform or an organisation; default: the demo organisation")
    return parser


def _up(wanted: Twin, _options: argparse.Namespace) -> int:
    with timed("up"):
        here, description = twin.up(wanted)
    say(f"API {description['apiUrl']}  description {here.stack_file}")
    return 0


def _down(wanted: Twin, _options: argparse.Namespace) -> int:
    say("stopped" if twin.down(wanted) else "the twin was not running")
    return 0


def _run(wanted: Twin, options: argparse.Namespace) -> int:
    started = process.running(wanted) is None
    try:
        with timed("up"):
            here, description = twin.up(wanted)
        demo = Demo(here, description)
        with timed(f"sending the story of {demo.person.lead} through every entrance"):
            demo.play()
        with timed("waiting until all of it can be read"):
            items = demo.wait()
        with timed("waiting until the memories have caught up"):
            memories = demo.memories()
        show(demo, items, memories, demo.identities())
        if options.once or os.environ.get("ONCE") == "1":
            return 0
        say("Ctrl-C ends this" + (" and stops the twin" if started else "; the twin stays up, as it was before"))
        threading.Event().wait()
    except KeyboardInterrupt:
        print()
        return 0
    finally:
        if started and twin.down(wanted):
            say("twin stopped")
    return 0


def _status(wanted: Twin, _options: argparse.Namespace) -> int:
    instance = process.running(wanted)
    if instance is None:
        say("the twin is down")
        return 0
    say(f"the twin runs on port {instance.port} (process {instance.pid}); description {wanted.stack_file}")
    return 0


def _token(wanted: Twin, options: argparse.Namespace) -> int:
    known = describe.read(wanted.stack_file)
    name = options.name or known["organizationId"]
    if name not in known["tokens"]:
        raise TwinError(f"No token of {name}; there are {', '.join(sorted(known['tokens']))}.")
    print(known["tokens"][name])
    return 0


def _logs(wanted: Twin, options: argparse.Namespace) -> int:
    instance = process.running(wanted)
    if instance is None:
        raise TwinError("The twin is down; its log of the last run is " + str(wanted.log))
    client = aws.logs(replace(wanted, port=instance.port))
    since = int((time.time() - options.minutes * 60) * 1000)
    lines = []
    for group in client.describe_log_groups()["logGroups"]:
        name = group["logGroupName"]
        found = aws.log_events(client, name, since)
        lines += [(event["timestamp"], name.rpartition("/")[2], event["message"]) for event in found]
    for _moment, function, message in sorted(lines):
        if not message.startswith(NOISE):
            print(f"{function}: {message.rstrip()}")
    return 0


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
