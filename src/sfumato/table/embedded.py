"""DuckDB behind Ibis, without the way through Ibis' pandas module: pandas takes long to load."""

from __future__ import annotations

from typing import Any

from ibis.backends.duckdb import Backend


class EmbeddedBackend(Backend):
    """Ibis' DuckDB backend, answering in Arrow alone."""

    def to_pyarrow(self, expr: Any, /, *, params: Any = None, limit: Any = None, **kwargs: Any) -> Any:
        """The expression's value, or its rows as an Arrow table."""
        relation = self._to_duckdb_relation(expr, params=params, limit=limit, **kwargs)
        return expr.__pyarrow_result__(relation.to_arrow_table())
