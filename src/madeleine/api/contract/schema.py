"""JSON Schema of shapes, as /openapi.json and the tools have it."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from madeleine.api.contract.shape import Contract, RequestShape, ShapeField, is_shape, shape_fields

JsonSchema = dict[str, Any]

_SCHEMA_BY_TYPE: Mapping[Any, JsonSchema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    object: {},
    Any: {},
}


class SchemaBuilder:
    """Makes schemas, and collects those that have a name. Where `null_is_absent`, it is said of a
    field of a request that null means the same as leaving it out."""

    def __init__(
        self,
        contract: Contract,
        prefix: str = "#/components/schemas/",
        null_is_absent: bool = False,
    ) -> None:
        self._contract = contract
        self._prefix = prefix
        self._null_is_absent = null_is_absent
        self.named: dict[str, JsonSchema] = {}

    def of(self, kind: Any) -> JsonSchema:
        """Return the schema of a type; a shape is named, and referred to. Pairs that
        annotate a type are added to its schema, `formats` as a choice of formats; a shape that
        annotates one stands for it."""
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if kind in _SCHEMA_BY_TYPE:
            return dict(_SCHEMA_BY_TYPE[kind])
        if origin is typing.Annotated and isinstance(args[1], type):
            return self.of(args[1])
        if origin is typing.Annotated:
            added = dict(args[1])
            formats = [{"format": each} for each in added.pop("formats", ())]
            return {**self.of(args[0]), **added, **({"anyOf": formats} if formats else {})}
        if origin in (typing.Union, types.UnionType):
            return self._any_of(args)
        if origin is typing.Literal:
            return {**_SCHEMA_BY_TYPE[type(args[0])], "enum": list(args)}
        if origin is tuple and args[-1] is not Ellipsis:
            items = [self.of(each) for each in args]
            bounds = {"minItems": len(items), "maxItems": len(items)}
            return {"type": "array", "prefixItems": items, **bounds}
        if origin is not None and issubclass(origin, Mapping):
            values = self.of(args[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if origin is not None and issubclass(origin, Sequence):
            return {"type": "array", "items": self.of(args[0])}
        if issubclass(kind, enum.Enum):
            return {"type": "string", "enum": [each.value for each in kind]}
        return self._refer_to(kind)

    def _refer_to(self, kind: type[Any]) -> JsonSchema:
        codec = self._contract.codecs.get(kind)
        name = kind.__name__
        if name not in self.named:
            self.named[name] = {}  # a shape may hold itself
            self.named[name] = self.object_of(codec.shape if codec else kind)
        return {"$ref": self._prefix + name}

    def object_of(self, kind: Any) -> JsonSchema:
        """Return the schema of a shape itself. Of an answer is required what it always has, of a
        request what has no default; a request holds nothing that is not named."""
        if not is_shape(kind):
            raise TypeError(f"{kind} has no schema")
        is_request, fields = issubclass(kind, RequestShape), shape_fields(kind)
        needed = [each for each in fields if not _may_be_left_out(each, is_request)]
        described = _first_sentence(kind.__doc__)
        return {
            "type": "object",
            **({"description": described} if described else {}),
            "properties": {each.wire: self._describe_field(each, kind) for each in fields},
            "required": [each.wire for each in needed],
            **({"additionalProperties": False} if is_request else {}),
            **({"additionalProperties": True} if getattr(kind, "is_open", False) else {}),
        }

    def property_of(self, given: ShapeField, is_request: bool = True) -> JsonSchema:
        """Return the schema of a field. One that may be left out is null only if it says so."""
        bare = _may_be_left_out(given, is_request) and not given.is_nullable
        kind = strip_none(given.type) if bare else given.type
        schema = self.of(kind)
        return {**schema, "description": given.help} if given.help else schema

    def _describe_field(self, given: ShapeField, kind: Any) -> JsonSchema:
        is_request = issubclass(kind, RequestShape)
        null_is_absent = self._null_is_absent and is_request and not kind.null_takes_away
        if not null_is_absent or given.is_required:
            return self.property_of(given, is_request)
        schema = self._any_of([strip_none(given.type), type(None)])
        return {**schema, "description": given.help} if given.help else schema

    def _any_of(self, kinds: Iterable[Any]) -> JsonSchema:
        """Return the schema of a choice; of a plain type or nothing it is one with two types."""
        every = list(kinds)
        schemas = [self.of(each) for each in every if each is not type(None)]
        if type(None) not in every:
            return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        if len(schemas) == 1 and isinstance(schemas[0].get("type"), str):
            schema = {**schemas[0], "type": [schemas[0]["type"], "null"]}
            return {**schema, "enum": [*schema["enum"], None]} if "enum" in schema else schema
        return {"anyOf": [*schemas, {"type": "null"}]}


def _may_be_left_out(given: ShapeField, is_request: bool) -> bool:
    return given.is_left_out or (is_request and not given.is_required)


def strip_none(kind: Any) -> Any:
    """Return a type without the nothing that it may be."""
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return kind
    kinds = [each for each in typing.get_args(kind) if each is not type(None)]
    return kinds[0] if len(kinds) == 1 else typing.Union[tuple(kinds)]  # noqa: UP007  # made here


def _first_sentence(doc: str | None) -> str:
    """Return the first sentence of what a class says of itself; nothing if it is generated."""
    text = " ".join((doc or "").split("\n\n")[0].split())
    return "" if text.endswith(")") and "(" in text and " " not in text.split("(")[0] else text
