"""Shapes: dataclasses that cross a door, and the way from one to JSON and back.

A shape is a frozen dataclass with keyword arguments only. There are a few hundred of them, and a
process uses a few; so a class becomes a dataclass when it is first used, not when it is imported.
"""

from __future__ import annotations

import dataclasses
import enum
import threading
import types
import typing
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from madeleine.model.times import format_time, parse_time

T = TypeVar("T")

HELP_KEY, LEFT_OUT_KEY, NULLABLE_KEY, ABSENT_WITH = "help", "left_out", "nullable", "absent_with"
_PENDING_MARK = "__pending_shape__"
_COMPLETION_LOCK = threading.RLock()


def field(
    help: str = "",
    *,
    default: Any = dataclasses.MISSING,
    default_factory: Any = dataclasses.MISSING,
    left_out: bool = False,
    **more: object,
) -> Any:
    """Return a field of a shape with what it means. One that may be `left_out` stands in no
    JSON where it is None or empty, or where the field that `absent_with` names holds something.
    `more` is for whoever reads the declaration, such as bounds."""
    metadata = {HELP_KEY: help, LEFT_OUT_KEY: left_out, **more}
    if default_factory is not dataclasses.MISSING:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def shape(declared: type[T]) -> type[T]:
    """Declare a class as a shape."""

    def begin(cls: type[T], *given: object, **values: object) -> T:
        complete_shape(cls)
        return object.__new__(cls)

    setattr(declared, _PENDING_MARK, True)
    for name, method in _BY_NAME.items():
        if name not in vars(declared):  # a field of this name is itself
            setattr(declared, name, method)
    declared.__new__ = begin  # type: ignore[assignment, method-assign]  # it makes __init__
    return declared


def complete_shape(declared: type[Any]) -> None:
    """Make a dataclass of a shape, unless it is one already; its base classes come first."""
    if _PENDING_MARK not in vars(declared):
        return
    with _COMPLETION_LOCK:
        for each in reversed(declared.__mro__):
            if _PENDING_MARK in vars(each):
                dataclass(frozen=True, kw_only=True)(each)
                delattr(each, _PENDING_MARK)


class ShapeField(NamedTuple):
    """One field of a shape, as JSON has it."""

    name: str
    wire: str
    type: Any
    metadata: Mapping[str, Any]
    default: Any
    """MISSING where it has to be given."""

    @property
    def help(self) -> str:
        return str(self.metadata.get(HELP_KEY, ""))

    @property
    def is_left_out(self) -> bool:
        """Whether JSON leaves the field out where it holds nothing."""
        return bool(self.metadata.get(LEFT_OUT_KEY))

    def is_absent_from(self, given: object) -> bool:
        """Whether another field of the shape stands in JSON in the place of this one."""
        other = self.metadata.get(ABSENT_WITH)
        return other is not None and getattr(given, other) is not None

    @property
    def is_nullable(self) -> bool:
        """Whether a field that may be left out may also stand there with null."""
        return bool(self.metadata.get(NULLABLE_KEY))

    @property
    def is_required(self) -> bool:
        """Whether whoever makes the shape has to give the field."""
        return self.default is dataclasses.MISSING


@cache
def shape_fields(declared: Any) -> tuple[ShapeField, ...]:
    """Return the fields of a shape, or of another dataclass. A name that is a word of Python ends
    with `_`, which JSON does not have."""
    complete_shape(declared)
    hints = typing.get_type_hints(declared, include_extras=True)
    return tuple(
        ShapeField(
            each.name, each.name.rstrip("_"), hints[each.name], each.metadata, _field_default(each)
        )
        for each in dataclasses.fields(declared)
    )


def _field_default(given: dataclasses.Field[Any]) -> Any:
    if given.default_factory is not dataclasses.MISSING:
        return given.default_factory()
    return given.default


# -- by name -------------------------------------------------------------------------------
# Several answers were dicts before they were shapes. Programs may go on reading a shape by the
# names in its JSON; a field that JSON leaves out is absent here, too.


def values_by_name(given: object) -> dict[str, object]:
    """Return the values of a shape's fields by their names in JSON."""
    kind: Any = type(given)
    found = ((each, getattr(given, each.name)) for each in shape_fields(kind))
    return {
        each.wire: value
        for each, value in found
        if not each.is_left_out or (not _is_empty(value) and not each.is_absent_from(given))
    }


def _is_empty(value: object) -> bool:
    return value is None or value == {}


def _get_item(self: object, name: str) -> object:
    return values_by_name(self)[name]


def _has_field(self: object, name: object) -> bool:
    return name in values_by_name(self)


def _iterate_names(self: object) -> Iterator[str]:
    return iter(values_by_name(self))


def _field_names(self: object) -> KeysView[str]:
    return values_by_name(self).keys()


def _field_items(self: object) -> ItemsView[str, object]:
    return values_by_name(self).items()


def _get(self: object, name: str, default: object = None) -> object:
    return values_by_name(self).get(name, default)


_BY_NAME: Mapping[str, Callable[..., object]] = types.MappingProxyType(
    {
        "__getitem__": _get_item,
        "__contains__": _has_field,
        "__iter__": _iterate_names,
        "keys": _field_names,
        "items": _field_items,
        "get": _get,
    }
)


class RequestShape:
    """What a client sends: a field that has a default may be left out. Null means the same, unless
    the request says what is to change: there null takes a value away."""

    null_takes_away: typing.ClassVar[bool] = False


class ShapeCodec(NamedTuple):
    """How values of a class of the model are written: as the shape, by the two functions."""

    shape: type[Any]
    to_json: Callable[[Any], object]
    from_json: Callable[[Any], Any]


# -- to JSON -------------------------------------------------------------------------------


class Contract:
    """Takes shapes to JSON and back; `codecs` say how values of other classes are written."""

    def __init__(self, codecs: Mapping[type[Any], ShapeCodec]) -> None:
        self.codecs = codecs

    def to_json(self, value: Any) -> Any:
        """Return a value as JSON holds it."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return value.value if isinstance(value, enum.Enum) else value
        if isinstance(value, datetime):
            return format_time(value)
        codec = self._codec_of(type(value))
        if codec is not None:
            return codec.to_json(value)
        if isinstance(value, Mapping):
            return {str(self.to_json(key)): self.to_json(each) for key, each in value.items()}
        if isinstance(value, Sequence | set | frozenset):
            return [self.to_json(each) for each in value]
        return {name: self.to_json(each) for name, each in values_by_name(value).items()}

    def _codec_of(self, kind: type[Any]) -> ShapeCodec | None:
        return next((self.codecs[each] for each in kind.__mro__ if each in self.codecs), None)

    # -- from JSON -------------------------------------------------------------------------

    def from_json(self, kind: Any, value: Any) -> Any:
        """Return the value of a declared type that JSON describes. It trusts its input, which is
        our own; fields that a newer release added are passed over, and one that an older release
        did not have yet gets its default."""
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return self.from_json(args[0], value)
        if origin in (typing.Union, types.UnionType):
            return self._one_of(args, value)
        if value is None or kind is object or kind is Any or origin is typing.Literal:
            return value
        if origin is tuple:
            every = args[0] if len(args) == 2 and args[1] is Ellipsis else None
            kinds = [every] * len(value) if every is not None else args
            return tuple(self.from_json(*pair) for pair in zip(kinds, value, strict=False))
        if origin is not None and issubclass(origin, Mapping):
            return {key: self.from_json(args[1], each) for key, each in value.items()}
        if origin is not None and issubclass(origin, Sequence):
            return [self.from_json(args[0], each) for each in value]
        return self._plain_value(kind, value)

    def _plain_value(self, kind: Any, value: Any) -> Any:
        codec = self._codec_of(kind)
        if codec is not None:
            return codec.from_json(value)
        if issubclass(kind, datetime):
            return parse_time("time", value)
        if issubclass(kind, enum.Enum):
            return kind(value)
        if issubclass(kind, str | int | float):
            return value
        given = {each.wire: each for each in shape_fields(kind) if each.wire in value}
        return kind(
            **{each.name: self.from_json(each.type, value[wire]) for wire, each in given.items()}
        )

    def _one_of(self, kinds: Sequence[Any], value: Any) -> Any:
        """Return the value as the first of several types that it fits."""
        if value is None:
            return None
        fitting = [each for each in kinds if each is not type(None) and self._fits(each, value)]
        return self.from_json(fitting[0], value) if fitting else value

    def _fits(self, kind: Any, value: Any) -> bool:
        origin = typing.get_origin(kind)
        if origin is tuple:
            return isinstance(value, list) and len(value) == len(typing.get_args(kind))
        if origin is not None or not isinstance(kind, type):
            return True
        shape = codec.shape if (codec := self._codec_of(kind)) else kind
        if not isinstance(value, dict):
            return not is_shape(shape)
        needed = {each.wire for each in shape_fields(shape) if each.is_required}
        return is_shape(shape) and needed <= value.keys()


def is_shape(kind: object) -> bool:
    """Whether a type is a shape or another dataclass."""
    return isinstance(kind, type) and (
        dataclasses.is_dataclass(kind) or any(_PENDING_MARK in vars(each) for each in kind.__mro__)
    )
