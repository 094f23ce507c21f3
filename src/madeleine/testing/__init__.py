"""The contract of the index as tests, for whoever writes an engine.

    # conftest.py of the engine
    @pytest.fixture
    def make_index() -> Maker: ...

    @pytest.fixture
    def index(make_index, tmp_path): ...

    # test_contract_port.py of the engine; one file for each module of tests
    from madeleine.testing.index_port import *

making            small memories, vectors and events
engines           how an engine under test is opened
index_port        writing, memories, search by words and by meaning, graph, log
index_candidates  pools: the candidates of a question with what stands beside them
index_gathering   who takes part in consolidation
index_standing    what the jobs go by
index_languages   words in other languages than English
index_insights    what consolidation discovered
index_map         what the graph is drawn from
index_whispers    what was whispered

docs/contributing/add-an-engine.md tells the whole way. Needed: pytest and hypothesis
(`pip install 'madeleine-memory[testing]'`).
"""

import pytest

pytest.register_assert_rewrite(
    *(
        f"{__name__}.index_{each}"
        for each in ("port", "candidates", "gathering", "standing", "insights", "map", "whispers")
    )
)
