"""The contract of the doors: what a request and an answer hold, declared once as dataclasses.

`shape` declares them and takes them to JSON and back, `schema` makes JSON Schema of them and
`typescript` the types of the page. The other modules hold the declarations themselves.
"""
