"""The one place that reads settings and the environment, and builds everything.

`open_home` opens a home folder for this process: it makes the folders, takes the lock (one
process writes), opens vault, journal, index and models, brings the index up to date and
finishes what a kill interrupted. What healed itself on the way is said in `notes`.

clock        the machine's time
home         the home's folders, its lock, the name of this machine
config       settings, and what other rooms take from them
minds        embedder, cross-encoder, judge, extractor
index        the index, in whichever engine
intake       who takes in, and the folders that are followed
context      an open home; those of a server
opening      opens a home and brings its index up to date
moving       files into a database, and back
restoring    a backup in place of a home
"""

from madeleine.bootstrap.clock import SystemClock
from madeleine.bootstrap.config import (
    describe_unknown_home_variables,
    load_settings,
    make_intervals,
)
from madeleine.bootstrap.context import HomeContext, HomeContexts
from madeleine.bootstrap.home import (
    LOCK_TIMEOUT_SECONDS,
    HomeLock,
    device_name,
    make_folders,
    runtime_folder,
)
from madeleine.bootstrap.intake import list_session_folders, parse_folders
from madeleine.bootstrap.minds import make_judge, make_minds
from madeleine.bootstrap.opening import open_home, open_homes

__all__ = [
    "LOCK_TIMEOUT_SECONDS",
    "HomeContext",
    "HomeContexts",
    "HomeLock",
    "SystemClock",
    "describe_unknown_home_variables",
    "device_name",
    "list_session_folders",
    "load_settings",
    "make_folders",
    "make_intervals",
    "make_judge",
    "make_minds",
    "open_home",
    "open_homes",
    "parse_folders",
    "runtime_folder",
]
