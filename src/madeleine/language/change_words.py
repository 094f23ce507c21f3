"""The words by which a text tells a change, and those by which it only seems to.

`replacements.py` reads sentences with these tables; what each table decides stands beside it. They
are plain English and meant to be added to. A word that makes a change less certain may be added
freely: the worst it does is to turn a change into a proposal. A word that makes a word count less
(`LIGHT_WORDS`, `STATE_WORDS`) or tells a change (`CHANGE_PHRASES`) needs a look at the texts it
lets through.
"""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late
from madeleine.language.word_hints import STOP_WORDS


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


TEXT_UNDONE = _word_set(
    """
if unless whether might maybe perhaps possibly probably plan plans planned planning consider
considers considered considering propose proposes proposed proposal proposals suggest suggests
suggested suggestion idea draft todo rfc hope hopes hoping wish wishes imagine suppose pretend
joke joking kidding rumour rumor rumours rumors heard reportedly apparently supposedly allegedly
seems seemingly someday eventually trial trials experiment experiments experimental prototype poc
spike pilot temporary temporarily provisional provisionally interim until till except partly
partially revert reverted reverting rollback undid undone aborted failed novel story movie film
tutorial hypothetically unclear unsure undecided dream dreamed dreamt example denied rejected
withdrew withdrawn objected strike outage today's tonight afternoon weekend would petition
petitioned requested least could should shall will gonna want wants wanted wanting think thinks
thinking thought discuss discusses discussed discussing debate debated debating likely soon
tomorrow next upcoming later almost nearly say says said claim claims claimed according believe
believes believed ask asks asked asking recommend recommends recommended while meanwhile during
mistake accidentally wrongly pending approved yet refuse refused wrong false untrue myth forget
scratch nope stayed remains remained unaffected unchanged starting gradually ongoing underway
intend intends intended announced announce elected demand demands doubt doubts afraid
"""
)
"""Words by which a text, wherever they stand in it, may not tell a whole and lasting change."""

TEXT_UNDONE_TURNS = compile_late(
    r"\?|[\"“”«»]|\b(?:roll(?:ed|s|ing)? (?:it |this |that |everything )?back|for now|for this"
    r"|for the (?:moment|time being|week|day|demo|night|sprint|test|summer|holidays)"
    r"|for an? (?:week|day|month|while|few|bit|test|trial|demo|night|year)"
    r"|for (?:\w+ )?(?:days|weeks|hours|months|years)"
    r"|(?:went|gone|going|switched|moved|changed) back|back (?:to|on|in|again)"
    r"|years? ago|decades? ago|(?:in|around|during) (?:19|20)\d\d|in the past|back then"
    r"|from (?:the |next |\d+ )?(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|spring|summer|autumn|winter|term|\w+day|\d[\d.]*) on"
    r"|as of (?!now\b|today\b|this\b|yesterday\b)|by (?:the end|year's end|june|july|next)"
    r"|at the end of|effective|this (?:week|month|sprint|morning)|just for|kind of|sort of"
    r"|only \w+)\b",
    re.IGNORECASE,
)

CLAUSE_UNDONE = _word_set(
    """
wont must can cannot may try tries tried trying request half some most mostly many several few
part also too another additional additionally alongside besides both again still when whenever
sometimes usually often occasionally rarely each either or once earlier before originally
initially historically past had accident begin begins began beginning gradual slowly progress
other others need needs needed let lets why how what never nobody nothing none nor neither without
not against voted option options ticket issue branch fork stay stays remain keep keeps kept retain
continue continues continued he she they it this that these those him them who whose there anyone
someone somebody tell tells told show shows showed read see sees saw same like similar unlike than
compared versus vs guide did
"""
)
"""Words by which the clause of a change may not assert it, or tells it of something unnamed."""

CHANGE_PHRASES = """
hand: B has?/have? took/taken over X from A
hand: B has?/have? took/taken over from A
hand: B has?/have? succeeded A
hand: A has?/have? handed X over? to B
hand: A has?/have? passed X on? to B
swap: SWAPPED over/away/up/down? from A over? to/into B
swap: SWAPPED X over/away/up/down? from A over? to/into B
swap: SWAPPED X? |/: from A over? to/into B
swap: SWAPPED X? |/:? A → B
swap: SWAPPED over/up/down? to B from A
swap: SWAPPED X over/up/down? to B from A
move: MOVED over/away/up/down? from A over? to/into/onto B
move: MOVED X over/away/up/down? from A over? to/into/onto B
move: MOVED X? off A to/onto/into B
move: MOVED over? to/into B from A
move: MOVED X over? to/into B from A
move: CARRIED X? out of A into/to B
move: CARRIED X? out of A | into/to B
left: left A for B
swap: replaced/replacing A with/by B
swap: A HAVING? replaced/superseded by/with B
swap: A has?/have? made/gave/given way to/for B
swap: A has?/have?/had? made/make/to? room for B
swap: B has?/have?/now? replaced/superseded A
swap: B has?/have?/now? took/taken the place of A
swap: B has?/have?/now? took/taken A place
swap: swapped/traded/exchanged out/in? A out? for B
name: renamed/retitled/rebranded A to/→/as B
name: A HAVING renamed/retitled/rebranded to?/as? B
drop: DROPPED A in favour/favor of B
drop: DROPPED A for B
drop: DROPPED A
drop: left A behind
quit: GAVE_UP A in favour/favor of B
quit: GAVE_UP A for B
quit: GAVE_UP A
left: left/quit A
gone: A HAVING ENDED
role: A has?/have? resigned/retired
role: A has?/have? stepped down
role: A HAVING? out
verb: no longer V PREPOSITION? A
verb: is/are/am no longer PREPOSITION? A
verb: stopped/quit/ceased V PREPOSITION? A
verb: not V PREPOSITION? A any more/longer
verb: not V PREPOSITION? A anymore
verb: not PREPOSITION? A any more/longer
verb: not PREPOSITION? A anymore
verb: V no A any more/longer
verb: V no A anymore
with: B now? instead of A
with: B now? rather than A
with: B now? in place of A
with: B now? | not PREPOSITION? A
with: B now? | no longer PREPOSITION? A
with: B now? | no A
with: B now? |/: it? was/formerly/previously PREPOSITION? A
with: B now? |/: used to be PREPOSITION? A
with: B now? |/: up/down from A
"""
"""Turns of phrase that tell a change, after the name of the kind of change. `A` is what was left,
`B` what was taken, `X` of what it is told, `V` what is no longer done. A slash separates the words
of one place, `?` says that it may lack, words in capitals are those of `WORD_LISTS`."""

WORD_LISTS = {
    "SWAPPED": """switched changed converted transitioned ported shifted migrated swapped upgraded
        downgraded went gone raised lowered increased reduced bumped cut dropped
        extended shortened rescheduled postponed pushed rewrote rewritten rose grew
        adjusted updated moved brought set decreased doubled halved tightened scaled
        reset shrank slipped lifted buffed nerfed upped relicensed relicenced rewired
        reassigned jumped climbed""",
    "MOVED": "moved relocated transferred migrated",
    "CARRIED": "moved relocated transferred migrated taken took got shipped",
    "DROPPED": """dropped ditched abandoned stopped_using moved_off moved_off_of migrated_off
        migrated_away_from moved_away_from moved_on_from switched_away_from switched_off_of
        kicked_out killed ended""",
    "GAVE_UP": """got_rid_of gave_up given_up gave_up_on quit sold cancelled canceled went_off
        said_goodbye_to parted_with parted_ways_with are_done_with am_done_with is_done_with
        retired removed scrapped decommissioned discontinued phased_out sunset axed uninstalled
        ripped_out threw_out thrown_out deleted abolished""",
    "ENDED": """gone history dropped retired removed scrapped decommissioned discontinued abandoned
        ditched phased_out no_more a_thing_of_the_past sunset uninstalled sold
        thrown_out ripped_out closed_down abolished deleted superseded""",
    "HAVING": """is are was were got has have has_been have_been has_now_been is_now are_now
        is_finally""",
    "PREPOSITION": "on in at to with for from through via by over under",
}
CHANGE_STARTERS = frozenset(
    word
    for name in ("SWAPPED", "MOVED", "CARRIED", "DROPPED", "GAVE_UP")
    for each in WORD_LISTS[name].split()
    for word in each.split("_")[:1]
)
"""The first words of what tells a change."""
CONTRAST_MARKERS = _word_set(
    """
now switched moved changed since anymore longer was formerly previously used up down new today
yesterday any from upped lifted relocated swapped rescheduled rewritten
"""
)
"""Words of which a contrast (`B instead of A`) needs one to tell a change."""

ADVERBS = """
now just recently finally already officially fully completely entirely today yesterday currently
lately altogether totally permanently successfully everywhere globally instead actually quietly
straight directly over up down away out nowadays henceforth immediately onwards good anymore longer
happily simply exclusively mainly generally primarily throughout
"""
GENERIC = """
project repo repository codebase system setup stack everything everyone whole entire thing stuff
user people folks own solution tool
"""
LIGHT_WORDS = STOP_WORDS | _word_set(f"{ADVERBS} {GENERIC} since per via onto team")
"""Words that say nothing of what a sentence is about."""
TRAILING_WORDS = STOP_WORDS | _word_set(ADVERBS)
"""Words that may follow the name of a value and are no part of it."""
ARTICLES = _word_set("the a an our my his her their its your old using to on in at with also")
ALWAYS_VERBS = _word_set(
    "is are am be has have uses using built written chosen chose sent kept went goes go sits led"
)
"""Words of `STATE_WORDS` that are never nouns."""
BEFORE_VERBS = _word_set("i we you they user people everyone to now")
CONJUNCTIONS = frozenset({"and", "but", "so", "while"})
PREPOSITIONS = _word_set("for in on at across within of from with by to under near")
REASON_WORDS = frozenset({"because", "since", "due", "thanks", "after", "given", "which"})
"""Words that begin an explanation: what follows neither widens nor narrows what is told."""
VALUE_ENDS = _word_set(
    """
for in on at as because since so after which due and but with by via across to from where that now
last this into onto over under when while instead rather everywhere completely entirely fully
finally altogether today yesterday anymore any than about of throughout | :
"""
)
"""Words before which the name of a value ends."""

TIME_WORDS = _word_set(
    """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
fridays saturdays sundays january february march april june july august september october november
december spring summer autumn winter week month year day morning evening night noon quarter q1 q2
q3 q4
"""
)
"""Words that say when something changed, after `last`, `on` and the like."""
TIMES_OF_YEAR = TIME_WORDS | _word_set(
    "may lent ramadan advent christmas easter passover holiday holidays weekend days weeks months"
)
"""Words by which something is given up for a while: `for January`, `for Lent`."""
PERIODS = _word_set("twice year month week day daily weekly hourly yearly monthly nightly")
"""Stems of how often: an older text may say so where the newer one does not."""
_PEOPLE = """
mother father mom mum dad sister brother wife husband son daughter cousin uncle aunt friend
colleague teammate flatmate roommate neighbour neighbor boss client customer partner supplier vendor
parents kids children girlfriend boyfriend grandma grandpa competitor intern student teacher
landlord department office school team group sales finance marketing science support design
"""
_PLACES = """
staging production prod dev test testing local preprod beta legacy canary qa demo laptop phone home
work desktop server mobile backend frontend web ios android windows linux mac primary secondary
left right front rear inbound outbound internal external admin public private uk us eu
"""
DISTINGUISHING_WORDS = _word_set(f"{_PEOPLE} {_PLACES}") | TIME_WORDS
"""Words that tell one of several such things from the others."""

STATE_WORDS = {
    "use": """use uses used using run runs running rely relies based pick picked choose chose chosen
        select selected adopt adopted decide decided settle settled standardised
        standardized go goes went work works working sit sits stand stands set
        configured is are am be prefer prefers preferred""",
    "keep": """do does host hosts hosted deploy deploys deployed store stores stored save saves
        saved serve
        served serves track tracks tracked manage managed format formatted formats lint
        linted monitor monitored bundle bundled package packaged send sends sent build
        builds built write writes written schedule scheduled ship ships shipped sync
        synced cache cached log logged keep keeps kept publish published post posted
        handle handled render rendered edit edits meet meets hold held happen happens
        takes take listen listens pinned generated done made powered packed validated
        loaded start starts opens open""",
    "habit": """drink drinks eat eats play plays drive drives ride rides have has wear wears
        subscribe subscribed subscribes pay pays cost costs bank banks insured rent rents study
        studies speak speaks own owns train trains commute commutes cook cooks order
        orders buy buys get gets call weigh weighs earn earns charge charges""",
    "home": "live lives living reside resides based",
    "work": "work works working employed",
    "owner": """is own owns owned lead leads led maintain maintains maintained manages managed heads
        headed chairs oversees runs""",
    "name": "called named titled",
}
"""Words by which a text states that somebody or something has a value, by what they say."""
STATES_BY_WORD = {
    word: frozenset(name for name, others in STATE_WORDS.items() if word in others.split())
    for listed in STATE_WORDS.values()
    for word in listed.split()
}
ENDS_STATES = {
    "hand": frozenset({"owner"}),
    "move": frozenset({"use", "keep", "home", "work", "habit"}),
    "left": frozenset({"home", "work"}),
    "swap": frozenset({"use", "keep", "habit", "owner", "name"}),
    "name": frozenset({"name", "use"}),
    "drop": frozenset({"use", "keep"}),
    "quit": frozenset({"use", "keep", "habit"}),
    "gone": frozenset({"use", "keep", "habit"}),
    "role": frozenset({"owner"}),
    "verb": frozenset({"use", "keep", "habit", "home", "work", "owner", "name"}),
    "with": frozenset({"use", "keep", "habit", "owner", "home", "work", "name"}),
}
"""Which kinds of statements each kind of change ends."""
UNSTATED_WORDS = _word_set(
    """
if unless would could should might may will want wants plan plans planned consider considering was
were had formerly previously until ago or either sometimes not no never without none nobody cannot
nothing hardly instead rather than but except only wish hope maybe perhaps visited evaluated
tested tried compared considered once switched moved migrated
"""
)
"""Words by which an older text does not state a value that holds now, or not that alone."""

_COUNTED = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
NUMBERS = {each: str(number) for number, each in enumerate(_COUNTED.split())} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"
}  # fmt: skip
ORDINALS = {
    "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8",
    "ninth": "9", "tenth": "10", "eleventh": "11", "twelfth": "12", "fifteenth": "15",
    "twentieth": "20", "thirtieth": "30"
}  # fmt: skip
UNITS = {
    form: unit
    for unit, forms in {
        "second": "s sec secs second seconds", "minute": "min mins minute minutes",
        "hour": "h hr hrs hour hours", "millisecond": "ms msec millisecond milliseconds",
        "euro": "eur euro euros", "dollar": "usd dollar dollars", "percent": "percent pct",
        "kilogram": "kg kilo kilos", "gigabyte": "gb gig gigs gigabyte gigabytes",
        "megabyte": "mb megabyte megabytes", "terabyte": "tb terabyte terabytes",
        "day": "day days", "week": "week weeks", "month": "month months",
    }.items()
    for form in forms.split()
}  # fmt: skip
"""One name for each way to write a number or a unit."""
