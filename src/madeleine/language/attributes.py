"""Which words speak of one attribute: `lives in`, `is based in` and `has relocated to`.

A statement is held to be about the same as another one if their words share a family here. The
tables are plain English and meant to be added to. A word of several families is told by its
neighbours: `moved` may speak of a home, a host or a date. A word that stands in no table speaks of
nothing known, and then nothing is told by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from madeleine.language.stems import stem

NOTHING: frozenset[str] = frozenset()
QUOTED = "quoted"
"""The kind of what stands in quotes, a command mostly: a value of anything, and no subject."""

_FAMILIES = """
home: live, lives, living, lived, reside, resident, residence, home, house, flat, apartment, based
home: hometown, dwell, domicile, settle in, settle down in, put down roots, resettle, emigrate
home: stay in, new place, moved house, home address, quartered, headquarters, headquartered, office
work: employer, employed, employee, job, hired, joined, work at, work for, working at, working for
work: works at, works for, on the payroll, position at, career, company, workplace, career at
role: title, role, position, promoted, engineer, profession, occupation, work as, works as
role: job title
language: written, write, rewritten, rewrite, implement, implementation, language, coded, codebase
language: code base, code, build, built, programmed, reimplement, compiled, backend, transpile
language: rewrote
framework: run on, framework, frontend, front end, web framework, built with, built on, ui library
database: run on, database, data store, datastore, storage, store, stored, persist, persistence
database: records, keep its data, keeps its data, data lives, data, db, backing store, saves
host: host, hosted, hosting, deploy, deployed, deployment, cloud, server, servers, serve from
host: in production, production, provider, run on, ship to, rollout, data centre, infrastructure
host: releases go, live on, lives on, served
port: port, listen, listens, listening, bound, bind, binds, endpoint, reachable, answer on
port: answers on, reach, socket, url, address, exposed, server
owner: own, owns, owner, owned, maintain, maintainer, maintained, lead, leads, leader, led by
owner: headed, heads, responsible, responsibility, in charge, charge of, answer for, answers for
owner: look after, looks after, take care, takes care, took over, take over, takes over, taken over
owner: run by, manager, manage, manages, managed, steward, point of contact, contact person, boss
owner: accountable, handed over, hand over, handed, inherit, reassign, caretaker, supervise
owner: supervisor, chair, chairs, captain, director, coordinator, coordinate, oversee, oversees
owner: at the helm, assigned, passed, reins, falls to, belongs, person to ask, curate, keeper
tests: before a commit, before committing, pre commit, test, tested, tests, testing, test runner
tests: test suite, suite, check, checked, checks, verify, verified, spec, specs, assertions
format: before a commit, before committing, pre commit, format, formatter, formatted, formatting
format: style, code style, prettify, beautify, pretty print
lint: before a commit, before committing, pre commit, lint, linter, linted, linting
lint: static analysis, type checker, typecheck
build: build, builds, built by, bundle, bundler, compile, compiler, build system, build tool
build: package, packaged, packaging, dependencies, package manager
pipeline: ci, pipeline, continuous integration, automation, runner
editor: editor, ide, edit, edits, writes code, write code, coding in, types in, codes in
system: run on, operating system, laptop, machine, distro, desktop, os
queue: queue, broker, messages, message bus, events, event bus, jobs
cache: cache, cached, caching
auth: authenticate, authentication, login, log in, sign in, auth
monitoring: monitor, monitored, monitoring, alert, alerts, metrics, observability, dashboard, logs
tracker: tracker, ticket, tickets, issues, tracked, bug, bugs, tasks, backlog
repository: repository, repo, version control, source code, mirrored, code lives
channel: chat, channel, discuss, talk, messenger, communicate
docs: documentation, docs, documented, manual, handbook, wiki
notes: notes, note taking, journal, diary
license: licence, license, licensed
version: version, release, run on, pinned, upgraded, bumped, bump
branch: branch, trunk, main branch, default branch
theme: theme, colour scheme, color scheme, dark mode, light mode
colour: colour, color, painted, paint, repainted
food: eat, eats, dish, meal, food, breakfast, lunch, dinner, snack, cuisine, dessert, cook, cooks
drink: drink, drinks, drank, drinking, beverage, sip, sips, brew, cup, favourite drink, order
diet: diet
pet: pet, pets, adopt
allergy: allergy, allergic, allergies, intolerant, intolerance, react, reacts, tolerate, cannot eat
medicine: medicine, medication, dose, pill, prescription, treatment, treated
health: illness, ill, condition, injured, injury, diagnosed, suffers
hobby: hobby, hobbies, pastime, spare time, free time, weekends, plays, play, practise, practice
hobby: take up, took up, takes up, taken up, enjoys, enjoy, leisure, evenings, passion
sport: sport, train, trains, training, workout, exercise
instrument: instrument, musician
music: music, listen to, listens to, band, album
reading: reading, book, novel, author
study: study, studies, studying, major, degree, university, school, college, enrolled
speaks: speak, speaks, speaking, spoken, fluent, mother tongue, learning, learn, learns
relationship: married, marry, partner, wife, husband, girlfriend, boyfriend, engaged, divorced
relationship: single, spouse, dating, broke up, separated
family: children, child, son, daughter, kid, kids
vehicle: car, drive, drives, vehicle, bike, motorbike, rides, ride
commute: commute, commutes, travel to work, gets to work, get to work, goes to work, go to work
phone: phone, mobile phone, mobile number, handset, phone number, call her, call him, cell
mail: email, mail, e mail, inbox
bank: bank, account, mortgage
insurance: insurance, insured, insurer
doctor: doctor, dentist, physician, therapist
name: name, named, called, renamed, known as, goes by, nickname, codename
schedule: schedule, scheduled, reschedule, meet, meets, meeting, standup, stand up, take place
schedule: takes place, takes place on, held, appointment, call, sync, happen, happens, retro, class
schedule: rehearsal, session, event, review, demo, interview, lesson, lecture, exam, workshop
deadline: deadline, due, ship by, launch, launches, launch date, finish by, delivered, delivery
deadline: postponed
interval: interval, frequency, often, cron, backup, backups
hours: open, opens, opening hours, closes
price: price, priced, cost, costs, fee, rent, charge, charges, tariff, subscription, rate
salary: salary, earn, earns, wage, pay, paid
budget: budget, funding, funds, allowance
size: size, capacity, limit, quota, maximum, cap, capped, ceiling
count: members, headcount, employees, team size, subscribers, customers, user base, active users
timeout: timeout, time out, times out, gives up after, wait, waits
retention: retention, kept for, retain, retained, purged, deleted after
status: status, state, stage, phase, progress
plan: plan, tier, package deal, edition
priority: priority, urgent, importance
weight: weight, weighs, weigh
age: age, aged, years old
score: score, grade, accuracy, coverage, test coverage, covered by tests
seat: seat, desk, room, floor, sits
supplier: supplier, vendor, supplied, supplies, buys from, orders from
key: password, passphrase, key, secret, pin
timezone: timezone, time zone
currency: currency
browser: browser, browse, browses
shell: shell, terminal
model: model, language model, assistant, embeddings
protocol: protocol, api, interface, talks over, speaks to
payment: payment, payments, checkout, billing
"""
"""Family: the words and turns of phrase that speak of it."""

_MOVING = """
home host database schedule deadline seat repository channel port bank doctor docs tests language
framework format build pipeline tracker queue monitoring
"""
_TRADING = """
drink food diet pet hobby sport instrument language framework database host tests format lint build
pipeline editor system queue cache auth monitoring tracker repository channel docs notes license
version branch theme phone mail bank insurance doctor vehicle commute browser shell model protocol
payment plan supplier currency music reading study role work port colour interval
"""
_RISING = (
    "price salary budget size count timeout retention weight score version age interval status"
)
_CHANGES = """
moved, move, moves, moving, shifted, transferred > @moving
relocated, relocate, resettled, emigrated > home seat host database
migrated, migrate, migrates > @trading host database repository
ported, port over > language framework database host system build tests
switched, switches, switching, changed, changed over, change over, went over > @trading
converted, transitioned, turned to, took to, taken to, opted > @trading
replaced, replacing, replaces, swapped, exchanged, traded, traded in > @trading owner
adopted, embraced, settled on, decided on > @trading
rewritten, rewrote, rewriting, reimplemented, recoded, redone > language framework tests docs
took over, taken over, takes over, take over, stepped in, succeeded, inherited > owner role
handed over, handed, reassigned, passed on, passed to, stepped down > owner role
joined, hired, quit, resigned > work study
promoted, demoted, became, become, turned into > role status diet owner colour relationship name
renamed, rechristened, rebranded > name branch
rescheduled, postponed, brought forward, pushed back, pushed, delayed > schedule deadline
put off > schedule deadline
raised, lowered, increased, reduced, cut to, was cut, rose, improved, set > @rising deadline plan
risen, fell, dropped to, went up, went down, grew, grown, doubled, halved > @rising deadline plan
extended, shortened, climbed, sank, adjusted, bumped, upgraded > @rising deadline plan
downgraded > @rising deadline plan
repainted, redecorated, recoloured > colour theme
started, began, begun, took up, taken up, has taken up > hobby sport instrument study work speaks
left >
divorced, divorces, broke up, split up, separated > relationship
now, the new, nowadays, lately, recently, these days, of late, by now, meanwhile, from now on >
currently, since then, at present, as of, for now, has become, no longer, any more, anymore >
instead, instead of, rather than, in favour of, in favor of, in place of, over to, gave up >
given up, gives up, dropped, ditched, abandoned, stopped, went off, gone off, moved away >
moved off, got rid of, done with, through with, parted with, parted ways, no more, made way >
gave way, phased out, retired, turned out, grew out of, grown out of, outgrew, away from >
used to, was replaced, has replaced, bid farewell, said goodbye, since >
"""
"""What tells of a change, and the families that it speaks of by itself; none: of any."""
_GROUPS = {"@moving": _MOVING, "@trading": _TRADING, "@rising": _RISING}

_GONE_BEFORE = """
left, leaves, leaving, gave, gives, from, dropped, gave up, given up, gives up, quit, stopped
no longer, not, no, instead of, rather than, in place of, off, went off, gone off, replaced
replaces, replacing, ditched, abandoned, away from, moved away from, moved off, got rid of
done with, through with, parted with, parted ways with, swapped, traded, traded in, exchanged
retired, removed, no more, over, used to, phased out, outgrew, grew out of, grown out of, formerly
previously, without, never, sold, cancelled, neither, nor, resigned from, unlike, bid farewell to
said goodbye to, scrapped, isn't, aren't, divorced, broke up with, split up with, separated from
doesn't, don't, wasn't, hardly, succeeded, rid of, tired of, fed up with, out of, hasn't
"""
"""What stands before something that is over."""
_GONE_AFTER = """
turned out, away, any more, anymore, was replaced, were replaced, is gone, are gone, was dropped
is over, made way, gave way, gives way, was retired, is history, no longer, was removed
were dropped, died, got replaced, has been replaced, been replaced, was abandoned, stepped down
handed, passed, was sold, were removed, is no more, was scrapped, been dropped, been retired
days are over, a thing of the past, was superseded, been superseded, was phased out, resigned
retired, has left, cleared up, healed
"""
"""What stands after something that is over."""
_MORE = """
also, too, as well, another, additionally, besides, in addition, both, plus, second, alongside
again, still, additional, extra, further, each, either, several, sometimes, and also, next to
other, together
"""
"""What says that one thing does not take the other's place."""
_WISHED = """
if, would, might, may, could, should, want, wants, wanted to, plan to, plans, planning, considering
considers, consider, hope, hopes, hoping, maybe, perhaps, thinks, thinking, propose, proposed
suggest, suggested, whether, until, unless, wish, wishes, someday, tries, trying, almost, nearly
asked, asks, dream, dreams, intends, failed, refused, wouldn't
"""
"""What says that something is not so, or only in somebody's mind."""
_COMING = "will, going to, won't, tomorrow, next, soon, about to, left for, leaves for, leaving for"
"""What says that something is not so yet."""
_EVENTS = """
went to
born, grew up, visited, met, attended, graduated, founded, bought, travelled, traveled, happened
celebrated, watched, talked, spoke, gave a talk, conference, holiday, vacation, trip, wedding
funeral, wrote, published, won, lost, saw, found, fixed, crashed, broke, failed, reported
discovered, once, party, flew, sailed, climbed, ran, died, invented, designed, drew, sang
presented, was built
"""
"""What tells of something that happened once. A second time does not undo the first."""


_OF_KINDS = """
testing:tests formatter:format linter:lint packaging:build cloud:host orchestration:host
ci:pipeline forge:repository chat:channel color:colour city:home country:home transport:commute
transport:vehicle day:schedule day:deadline month:schedule month:deadline database:database
database:cache database:queue language:language framework:framework frontend:framework
editor:editor queue:queue tracker:tracker notes:notes system:system shell:shell browser:browser
protocol:protocol license:license model:model payment:payment monitoring:monitoring auth:auth
drink:drink drink:food diet:diet diet:food pet:pet pet:family instrument:instrument
instrument:hobby sport:sport sport:hobby food:food food:allergy food:drink drink:allergy
pet:allergy language:framework packaging:tests hobby:hobby hobby:sport transport:hobby
"""
"""Kinds of names (`kinds.py`), and the families of which they are values."""

_OWNING = """
owns leads maintains heads manages chairs oversees coordinates supervises responsible charge
answers looks takes took accountable curates runs handed hands passed in
"""
OWNERSHIP_WORDS = frozenset(_OWNING.split())
"""Words of who owns something, when they come before it: `Ana leads Atlas`."""


@dataclass(frozen=True, slots=True)
class PhraseRole:
    """What a word or turn of phrase does in a statement."""

    families: frozenset[str] = NOTHING
    change: bool = False
    before_gone: bool = False
    after_gone: bool = False
    more: bool = False
    wished: bool = False
    coming: bool = False
    event: bool = False


_MANY = """
pet hobby sport instrument music reading speaks food family allergy medicine health channel
count model notes study docs
"""
MULTIVALUED = frozenset(_MANY.split()) | {QUOTED}
"""Families and kinds of which one may have several at once: only what is said to be over is
replaced."""

PhraseKey = tuple[str, ...]


def _split_entries(text: str) -> list[PhraseKey]:
    phrases = text.replace("\n", ",").split(",")
    return [tuple(each.split()) for each in phrases if each.strip()]


def _build_families() -> dict[PhraseKey, frozenset[str]]:
    found: dict[PhraseKey, set[str]] = {}
    for line in _FAMILIES.strip().splitlines():
        family, _, told = line.partition(": ")
        for entry in _split_entries(told):
            found.setdefault(tuple(map(stem, entry)), set()).add(family)
    return {entry: frozenset(families) for entry, families in found.items()}


def _expand_groups(families: str) -> list[str]:
    """Return the families of a line, those of groups one by one."""
    return [each for name in families.split() for each in _GROUPS.get(name, name).split()]


def _build_roles() -> dict[PhraseKey, PhraseRole]:
    families: dict[PhraseKey, set[str]] = {}
    flags: dict[PhraseKey, dict[str, bool]] = {}
    for line in _CHANGES.strip().splitlines():
        told, _, spoken_of = line.partition(" >")
        for entry in _split_entries(told):
            families.setdefault(entry, set()).update(_expand_groups(spoken_of))
            flags.setdefault(entry, {})["change"] = True
    named = {"before_gone": _GONE_BEFORE, "after_gone": _GONE_AFTER, "more": _MORE}
    for flag, told in (named | {"wished": _WISHED, "event": _EVENTS, "coming": _COMING}).items():
        for entry in _split_entries(told):
            flags.setdefault(entry, {})[flag] = True
    return {
        entry: PhraseRole(families=frozenset(families.get(entry, ())), **given)
        for entry, given in flags.items()
    }


def _build_kind_families() -> dict[str, frozenset[str]]:
    pairs = [tuple(each.split(":")) for each in _OF_KINDS.split()]
    return {
        kind: frozenset(family for other, family in pairs if other == kind) for kind, _ in pairs
    }


FAMILIES_BY_KIND = _build_kind_families()
FAMILIES_BY_STEMS = _build_families()
"""Families by stems: every form of a word speaks of the same."""
ROLES_BY_WORDS = _build_roles()
"""Roles by words as they are written: `ported` tells of a change, `port` does not."""
LONGEST_PHRASE = max(map(len, (*FAMILIES_BY_STEMS, *ROLES_BY_WORDS)))
NO_ROLE = PhraseRole()


def find_role_at(
    words: Sequence[str], stems: Sequence[str], place: int
) -> tuple[PhraseRole, int] | None:
    """Return the role of the longest turn of phrase that begins at a place, and its length."""
    for length in range(min(LONGEST_PHRASE, len(stems) - place), 0, -1):
        told = ROLES_BY_WORDS.get(tuple(words[place : place + length]))
        families = FAMILIES_BY_STEMS.get(tuple(stems[place : place + length]))
        if told is not None or families is not None:
            return _complete_role(told or NO_ROLE, families or NOTHING, words[place]), length
    return None


def _complete_role(told: PhraseRole, families: frozenset[str], first: str) -> PhraseRole:
    """Return a role with all that is known of it: `moved away from` is a move too."""
    alone = ROLES_BY_WORDS.get((first,), NO_ROLE)
    all_of_it = told.families | families or alone.families
    return replace(told, families=all_of_it, change=told.change or alone.change)


def kinds_fit_families(kinds: frozenset[str], families: frozenset[str]) -> bool | None:
    """Whether a value of some kinds may be one of some attributes; `None` if nobody knows."""
    told = [FAMILIES_BY_KIND[each] for each in kinds if each in FAMILIES_BY_KIND]
    if not told or not families:
        return None
    return any(each & families for each in told)
