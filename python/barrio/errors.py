"""Exceptions of barrio: each has a subject, a cause and a remedy."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """Exit code of barrio's programs for each kind of error."""

    failed = 1  # the machine or the file system refused
    usage = 2  # an argument is wrong
    bad_input = 3  # a file or its contents are wrong
    differs = 4  # a comparison found a difference
    internal = 70  # a bug in barrio


class Error(RuntimeError):
    """A fault in arguments, input or the machine.

    If `is_agreed`, every rank of the communicator raises the same error, and the program may
    continue after it. `first_rank` is then the lowest rank that found the fault; None if all did.
    """

    def __init__(
        self,
        code: int,
        subject: str,
        cause: str,
        remedy: str = "",
        is_agreed: bool = False,
        first_rank: int | None = None,
    ) -> None:
        super().__init__(f"{subject}: {cause}" + (f" ({remedy})" if remedy else ""))
        self.code = ErrorCode(code)
        self.subject = subject
        self.cause = cause
        self.remedy = remedy
        self.is_agreed = is_agreed
        self.first_rank = first_rank

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.subject, self.cause, self.remedy, self.is_agreed, self.first_rank)
        return type(self), (int(self.code), *parts)


class FailedError(Error, OSError):
    """The machine or the file system refused, as for a file that does not exist."""


class UsageError(Error):
    """An argument is wrong."""


class BadInputError(Error):
    """A file or its contents are wrong."""


_classes = {
    ErrorCode.failed: FailedError,
    ErrorCode.usage: UsageError,
    ErrorCode.bad_input: BadInputError,
}


for _class in (ErrorCode, Error, *_classes.values()):
    _class.__module__ = "barrio"  # tracebacks show the public name


def make_error(
    code: int, subject: str, cause: str, remedy: str, is_agreed: bool, first_rank: int | None
) -> Error:
    """Make an error of the class for this code. Called by the core."""
    kind = _classes.get(ErrorCode(code), Error)
    return kind(code, subject, cause, remedy, is_agreed, first_rank)
