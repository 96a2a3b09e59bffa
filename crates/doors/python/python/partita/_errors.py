"""Errors: what went wrong as a class, the values that clash as attributes."""

from __future__ import annotations


class PartitaError(Exception):
    """Any error of partita."""


class InputError(PartitaError, ValueError):
    """An input that cannot be used; the message names the place and the remedy."""


class SettingError(PartitaError, ValueError):
    """A setting that the method does not have, or a value that it does not take.

    Attributes
    ----------
    name : str
        The setting.
    value : str or None
        The value that was given.
    known : list of str
        The settings that there are, where the name is unknown.
    called : str or None
        What the method calls it, where another name was given.
    """

    def __init__(
        self,
        message: str,
        name: str = "",
        value: str | None = None,
        known: list[str] | None = None,
        called: str | None = None,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.value = value
        self.known = known or []
        self.called = called

    def __reduce__(self) -> tuple[object, ...]:
        return (SettingError, (str(self), self.name, self.value, self.known, self.called))


class BudgetError(PartitaError, MemoryError):
    """More memory is needed than may be held.

    Attributes
    ----------
    what : str
        What asked for the memory.
    needed, budget : int
        Bytes.
    remedy : str
        What would fit instead.
    """

    def __init__(self, message: str, what: str = "", needed: int = 0, budget: int = 0, remedy: str = "") -> None:
        super().__init__(message)
        self.what = what
        self.needed = needed
        self.budget = budget
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        return (BudgetError, (str(self), self.what, self.needed, self.budget, self.remedy))


class PartitaWarning(UserWarning):
    """Something to look at before a result is trusted."""
