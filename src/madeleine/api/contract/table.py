"""What each operation takes and answers with, as shapes.

/openapi.json, docs/reference, the tools of MCP and the types of the page are made from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from madeleine.api.contract import page_responses as page
from madeleine.api.contract import requests as taken
from madeleine.api.contract import responses as told
from madeleine.api.contract.shape import ShapeField, shape_fields


class OperationShapes(NamedTuple):
    """The shapes of one operation: its answer, and the body and the query of its request."""

    answer: Any
    body: Any = None
    query: Any = None

    @property
    def body_fields(self) -> tuple[ShapeField, ...]:
        return () if self.body is None else shape_fields(self.body)

    @property
    def query_fields(self) -> tuple[ShapeField, ...]:
        return () if self.query is None else shape_fields(self.query)

    @property
    def fields(self) -> tuple[ShapeField, ...]:
        """All that a request may hold."""
        return (*self.query_fields, *self.body_fields)


SHAPES_BY_OPERATION: Mapping[str, OperationShapes] = MappingProxyType(
    {
        "remember": OperationShapes(
            told.RememberedMemory, body=taken.MemoryDraft, query=taken.SpaceQuery
        ),
        "remember_many": OperationShapes(
            told.RememberedMany, body=taken.RememberManyBody, query=taken.SpaceQuery
        ),
        "recall": OperationShapes(told.RecallAnswer, body=taken.RecallBody, query=taken.SpaceQuery),
        "whisper": OperationShapes(
            told.WhisperAnswer, body=taken.WhisperBody, query=taken.SpaceQuery
        ),
        "whisper_why": OperationShapes(told.WhisperReason, query=taken.WhisperWhyQuery),
        "whisper_report": OperationShapes(told.WhisperReport),
        "feedback": OperationShapes(told.NotedFeedback, body=taken.FeedbackBody),
        "show": OperationShapes(told.ShownMemory, query=taken.ShowQuery),
        "list": OperationShapes(told.MemoryPage, query=taken.ListQuery),
        "trash": OperationShapes(told.TrashPage),
        "history": OperationShapes(told.MemoryHistory, query=taken.HistoryQuery),
        "revise": OperationShapes(told.ChangedMemory, body=taken.ReviseBody),
        "retire": OperationShapes(told.ChangedMemory, body=taken.RetireBody),
        "forget": OperationShapes(told.ForgottenMemory, query=taken.ForgetQuery),
        "restore": OperationShapes(told.ChangedMemory),
        "link": OperationShapes(told.ChangedMemory, body=taken.LinkBody),
        "unlink": OperationShapes(told.ChangedMemory, body=taken.UnlinkBody),
        "merge": OperationShapes(told.MergedMemory, body=taken.MergeBody),
        "undo": OperationShapes(told.UndoneChanges),
        "proposals": OperationShapes(told.ProposalPage, query=taken.ProposalsQuery),
        "proposal": OperationShapes(told.ShownProposal),
        "decide": OperationShapes(told.DecidedProposal, body=taken.DecideBody),
        "merges": OperationShapes(told.MergePage, query=taken.HistoryQuery),
        "undo_merge": OperationShapes(told.UndoneChanges),
        "audit": OperationShapes(told.EventPage, query=taken.AuditQuery),
        "insights": OperationShapes(told.Insights, query=taken.InsightsQuery),
        "maintenance": OperationShapes(told.MaintenanceAnswer),
        "hand_in": OperationShapes(
            told.MaintenanceAnswer | told.HandedInVerdicts, body=taken.HandInBody
        ),
        "tasks": OperationShapes(told.JobList),
        "run_all": OperationShapes(told.SleepRun, body=taken.RunAllBody, query=taken.RunAllQuery),
        "run_task": OperationShapes(told.SleepRun, body=taken.RunAllBody, query=taken.RunAllQuery),
        "stop_task": OperationShapes(told.StoppedJob),
        "pause_task": OperationShapes(told.PausedJob),
        "resume_task": OperationShapes(told.PausedJob),
        "consolidate": OperationShapes(
            told.ConsolidationRun, body=taken.ConsolidateBody, query=taken.ConsolidateQuery
        ),
        "consolidate_status": OperationShapes(told.ConsolidationStatus),
        "health": OperationShapes(told.Health),
        "status": OperationShapes(told.HomeStatus),
        "stats": OperationShapes(told.Stats, query=taken.StatsQuery),
        "reconcile": OperationShapes(told.ReconcileReport),
        "rebuild": OperationShapes(told.RebuildReport),
        "purge": OperationShapes(told.PurgeReceipt, body=taken.PurgeBody),
        "compact": OperationShapes(told.CompactReport),
        "import": OperationShapes(told.ImportReport, body=taken.ImportBody, query=taken.SpaceQuery),
        "export": OperationShapes(told.ExportPage, query=taken.ExportQuery),
        "backup": OperationShapes(told.BackupReport, body=taken.BackupBody),
        "backups": OperationShapes(told.BackupList),
        "ingest_conversation": OperationShapes(
            told.IngestReport,
            body=taken.IngestConversationBody,
            query=taken.IngestConversationQuery,
        ),
        "ingest_file": OperationShapes(
            told.IngestReport, body=taken.IngestFileBody, query=taken.IngestConversationQuery
        ),
        "people": OperationShapes(told.PeopleList),
        "add_person": OperationShapes(told.AddedPerson, body=taken.AddPersonBody),
        "remove_person": OperationShapes(told.RemovedPerson, query=taken.RemovePersonQuery),
        "tokens": OperationShapes(told.TokenList, query=taken.TokensQuery),
        "create_token": OperationShapes(told.CreatedToken, body=taken.CreateTokenBody),
        "revoke_token": OperationShapes(told.RevokedToken),
        "spaces": OperationShapes(told.SharedSpaceList),
        "share_space": OperationShapes(told.JoinedSpace, body=taken.ShareSpaceBody),
        "unshare_space": OperationShapes(told.LeftSpace, body=taken.UnshareSpaceBody),
        "stop": OperationShapes(told.Stopping),
        "page_link": OperationShapes(told.PageLink),
        "page_search": OperationShapes(page.SearchPage, query=taken.PageSearchQuery),
        "page_list": OperationShapes(page.BriefPage, query=taken.PageListQuery),
        "page_facets": OperationShapes(page.Facets, query=taken.PageFacetsQuery),
        "page_graph": OperationShapes(page.GraphOverview, query=taken.PageGraphQuery),
        "page_graph_space": OperationShapes(page.Drawing, query=taken.PageGraphSpaceQuery),
        "page_graph_near": OperationShapes(page.Surroundings, query=taken.PageGraphNearQuery),
        "page_graph_paths": OperationShapes(page.GraphPaths, query=taken.PageGraphPathsQuery),
        "page_memory": OperationShapes(page.WholeMemory, query=taken.PageMemoryQuery),
        "page_similar": OperationShapes(page.SimilarMemories),
        "page_difference": OperationShapes(page.MemoryDifference, query=taken.PageDifferenceQuery),
        "page_time": OperationShapes(page.TimelinePage, query=taken.PageTimeQuery),
        "page_time_bars": OperationShapes(page.Growth, query=taken.PageTimeBarsQuery),
        "page_time_day": OperationShapes(page.DayPage, query=taken.PageTimeDayQuery),
        "page_time_turns": OperationShapes(page.TurnPage, query=taken.InsightsQuery),
        "page_home": OperationShapes(page.HomePage, query=taken.PageTimeBarsQuery),
        "page_whispers": OperationShapes(page.WhisperPage, query=taken.PageWhispersQuery),
        "page_whisper": OperationShapes(page.WhisperDetail),
        "page_why_not": OperationShapes(page.UnwhisperedMemory, query=taken.PageWhyNotQuery),
        "page_sleep": OperationShapes(page.SleepPage),
        "page_runs": OperationShapes(page.RunPage, query=taken.PageRunsQuery),
        "page_run": OperationShapes(page.RunDetail, query=taken.PageRunQuery),
        "page_change": OperationShapes(page.ChangeDetail),
        "page_proposals": OperationShapes(page.ProposalLines, query=taken.PageProposalsQuery),
        "page_proposal": OperationShapes(page.ProposalDetail),
    }
)
