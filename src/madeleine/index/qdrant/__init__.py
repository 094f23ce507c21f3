"""Vectors in Qdrant, beside a graph that keeps all else (`index/apart.py`)."""

from madeleine.index.qdrant.vectors import QdrantVectors

__all__ = ["QdrantVectors"]
