"""What remote models were asked, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from madeleine.api import answer_texts
from madeleine.api.contract.responses import CostLine, CostReport, CostTotal
from madeleine.api.operation import operation
from madeleine.minds.spending import DailyCap, Receipt, SpendingTotal
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

COST_DIGITS = 6


@operation(
    "cost",
    "GET",
    "/admin/cost",
    "what remote models were asked today and this month, and what it cost",
    role=Role.ADMIN,
    answer=CostReport,
)
def report_cost(context: HomeContext, call: OperationCall) -> CostReport:
    RequestReader(call.query).done()
    ledger = context.stores.minds.spending
    receipts = [] if ledger is None else ledger.read_month()
    day = "" if ledger is None else ledger.today
    cap = DailyCap() if ledger is None else ledger.cap
    refused = "" if ledger is None else ledger.find_refusal()
    today, month = _add_up(each for each in receipts if each.day == day), _add_up(receipts)
    return CostReport(
        text="\n".join(_render_report(today, month, cap, refused)),
        day=day,
        today=today,
        month=month,
        daily_cap=cap.cost,
        daily_tokens=cap.tokens,
        refused=refused or None,
    )


def _add_up(receipts: Iterable[Receipt]) -> CostTotal:
    whole, parts = SpendingTotal(), dict[tuple[str, str], SpendingTotal]()
    for each in receipts:
        part = parts.setdefault((each.purpose, each.model), SpendingTotal())
        for total in (whole, part):
            total.add(each.tokens_in, each.tokens_out, each.cost)
    ordered = sorted(parts.items(), key=lambda item: (-item[1].cost, -item[1].tokens_in, item[0]))
    return CostTotal(
        requests=whole.requests,
        tokens_in=whole.tokens_in,
        tokens_out=whole.tokens_out,
        cost=round(whole.cost, COST_DIGITS),
        lines=[_build_line(purpose, model, each) for (purpose, model), each in ordered],
    )


def _build_line(purpose: str, model: str, used: SpendingTotal) -> CostLine:
    return CostLine(
        purpose=purpose,
        model=model,
        requests=used.requests,
        tokens_in=used.tokens_in,
        tokens_out=used.tokens_out,
        cost=round(used.cost, COST_DIGITS),
    )


def _render_report(today: CostTotal, month: CostTotal, cap: DailyCap, refused: str) -> list[str]:
    if not month.requests:
        return ["No remote model was asked this month.", *_render_bounds(cap, refused)]
    lines = [f"today       {_render_total(today)}"]
    lines += [f"  {_render_line(each)}" for each in today.lines]
    lines += [f"this month  {_render_total(month)}"]
    lines += [f"  {_render_line(each)}" for each in month.lines]
    return [*lines, *_render_bounds(cap, refused)]


def _render_total(total: CostTotal) -> str:
    requests = answer_texts.render_count(total.requests, "request")
    return f"{requests}, {_render_use(total.tokens_in, total.tokens_out, total.cost)}"


def _render_line(line: CostLine) -> str:
    used = _render_use(line.tokens_in, line.tokens_out, line.cost)
    model = answer_texts.flatten_text(line.model)
    return f"{line.purpose:<11} {model}: {line.requests:,} requests, {used}"


def _render_use(tokens_in: int, tokens_out: int, cost: float) -> str:
    written = f" and wrote {tokens_out:,}" if tokens_out else ""
    money = f", cost {cost:,.4f}" if cost else ""
    return f"read {tokens_in:,}{written} tokens{money}"


def _render_bounds(cap: DailyCap, refused: str) -> list[str]:
    bounds = [f"at most {cap.cost:g} a day (`cost.daily_cap`)"] if cap.cost else []
    bounds += [f"at most {cap.tokens:,} tokens a day (`cost.daily_tokens`)"] if cap.tokens else []
    closed = [f"{refused}; until tomorrow (UTC) the local way answers"] if refused else []
    return [*bounds, *closed]
