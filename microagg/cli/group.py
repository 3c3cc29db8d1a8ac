"""The list of commands; errors become one sentence on stderr and an exit code."""

from __future__ import annotations

import importlib
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from microagg import __version__
from microagg.cli.output import finish, stoppable, stopped_code
from microagg.errors import GuaranteeError, MicroaggError

#: Exit codes: a check fails; the input is bad; a fault of microagg, as in sysexits.h. For Ctrl-C it is 130, for SIGTERM
#: 143, and 141 if nobody reads the output any more.
FAILS, BAD_INPUT, INTERNAL, UNREAD = 1, 2, 70, 141

# Each command with its file, which is loaded when the command is called, and its line in the list.
_COMMANDS = {
    "run": ("releasing", "Make a k-anonymous release of a file."),
    "replay": ("releasing", "Repeat a release from its recipe."),
    "verify": ("verifying", "Check whether a file is k-anonymous, whoever made it."),
    "sweep": ("searching", "Compare the information loss of algorithms at several k."),
    "bound": ("searching", "Compute a lower bound on the information loss."),
    "certify": ("verifying", "Check whether a certificate proves an optimum."),
    "risk": ("verifying", "Measure the disclosure risk and the data quality of a release."),
    "reproduce": ("searching", "Recompute a table of a paper and compare it with the printed figures."),
    "steps": ("listing", "Show the steps of an algorithm."),
    "dashboard": ("listing", "Open the dashboard in a browser."),
    "datasets": ("listing", "List the data sets."),
    "methods": ("listing", "List the algorithms, or explain one."),
}


class Commands(click.Group):
    """Commands that are loaded when they are called. An error is one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, or None if there is none of that name."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"microagg.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, "data_sets" if cmd_name == "datasets" else cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of the commands, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completions for a shell, without loading the commands."""
        commands = [
            CompletionItem(name, help=text) for name, (_, text) in _COMMANDS.items() if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> None:
        """Run a command line, and exit with one of the codes at the top of this file, or 0."""
        with stoppable():
            sys.exit(self._exit_code(args, prog_name, extra))

    def _exit_code(self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]) -> int:
        try:
            code = super().main(args, prog_name, **(extra | {"standalone_mode": False}))
            finish()
        except (click.Abort, KeyboardInterrupt):
            click.echo("Stopped.", err=True)
            return stopped_code()
        except click.ClickException as error:
            return _print_error(error.format_message())
        except GuaranteeError as error:
            _print_error(str(error))
            return FAILS
        except MicroaggError as error:
            code = _print_error(str(error))
            _print_offers(error)
            return code
        except MemoryError:
            return _print_error("not enough memory: use fewer records, or another algorithm.")
        except SystemExit as error:
            # Click exits with 1 if the output is closed, which would say that a check fails.
            return UNREAD if error.code == FAILS else error.code  # type: ignore[return-value]
        except Exception as error:
            traceback.print_exc()
            _print_error(f"this is a fault of microagg ({type(error).__name__}), not a result. Please report it.")
            return INTERNAL
        return code if isinstance(code, int) else 0


def _print_error(message: str) -> int:
    text = " ".join(message.split())
    # The symbol k has no capital, even at the beginning of a sentence.
    click.echo(f"Error: {text if text.startswith('k ') else text[:1].upper() + text[1:]}", err=True)
    return BAD_INPUT


def _print_offers(error: MicroaggError) -> None:
    """Print the lines that make a file unreadable, and the flags that read it."""
    # Loading these packages takes longer than finding most mistakes.
    from microagg.cli.flags import reading_words
    from microagg.tables import UnreadableError

    if not isinstance(error, UnreadableError):
        return
    for line in error.lines:
        click.echo(f"{'>' if line.marked else ' '}{line.number:6} | {line.text}", err=True)
    for offer in error.offers:
        click.echo(f"To read it, add {shlex.join(reading_words(offer.reading))} ({offer.label}).", err=True)


@click.group(
    cls=Commands,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="microagg")
@click.option("--plugin", multiple=True, metavar="FILE", help="A Python file with your own algorithm. Repeatable.")
@click.pass_context
def cli(ctx: click.Context, plugin: tuple[str, ...]) -> None:
    """Make microdata k-anonymous by microaggregation, with low information loss.

    \b
    Example:
      microagg run people.csv --k 5 --qi age,income --confidential illness --drop name --out people_k5.csv
      microagg verify people_k5.csv --qi age,income --k 5
    """
    for path in plugin:
        from microagg.algorithms.registry import FILES, load_file  # which needs scikit-learn and Numba

        load_file(path)
        # For subprocesses.
        os.environ[FILES] = os.pathsep.join(filter(None, (os.environ.get(FILES), str(Path(path).resolve()))))
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
