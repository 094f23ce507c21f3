"""Whether a text says itself that it holds on a branch."""

from __future__ import annotations

import pytest

from madeleine.language.branch_words import speaks_of_branch


@pytest.mark.parametrize(
    "text",
    [
        "On this branch the cache is off",
        "the importer is stubbed out in this PR",
        "for this feature branch we write to a second table",
        "Keep the old endpoint alive until this is merged",
        "Auf diesem Branch läuft die Suche ohne Index",
        "in diesem Feature-Branch ist der Export leer",
        "sur cette branche, les paiements sont simulés",
        "en esta rama el servidor escucha en 9000",
        "su questo branch usiamo il vecchio schema",
        "nesta branch os testes lentos estão desligados",
        "op deze branch staat de mail uit",
        "na tej gałęzi eksport jest wyłączony",
        "в этой ветке кеш выключен",
        "在这个分支上缓存是关闭的",
        "このブランチではキャッシュを切っている",
    ],
)
def test_what_names_the_branch_as_where_it_holds_is_about_it(text: str) -> None:
    assert speaks_of_branch(text)


@pytest.mark.parametrize(
    "text",
    [
        "Branches are named after the ticket",
        "never push to the main branch",
        "The Zurich branch of the bank opens at nine",
        "delete a branch once it is merged",
        "PRs need two reviews",
        "La branche main est protégée",
        "Wir arbeiten in der Branche Maschinenbau",
        "I prefer short sentences",
        "The pull request template asks for a screenshot",
    ],
)
def test_what_is_true_of_branches_in_general_is_not(text: str) -> None:
    assert not speaks_of_branch(text)
