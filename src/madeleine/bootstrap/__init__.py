"""The one place that reads settings and the environment, and builds everything.

`open_house` opens a home folder for this process: it makes the folders, takes the lock (one
process writes), opens vault, journal, index and models, brings the index up to date and
finishes what a kill interrupted. What healed itself on the way is said in `notes`.

clock        the machine's time
home         the home's folders, its lock, the name of this machine
config       settings, and what other rooms take from them
minds        embedder, cross-encoder, judge, extractor
index        the index, in whichever engine
intake       who takes in, and the folders that are followed
house        an open home; those of a server
opening      opens a home and brings its index up to date
moving       files into a database, and back
restoring    a backup in place of a home
"""

from madeleine.bootstrap.clock import SystemClock
from madeleine.bootstrap.config import load_settings, make_intervals, unknown_variables_of
from madeleine.bootstrap.home import (
    LOCK_WAIT_SECONDS,
    HomeLock,
    device_name,
    make_folders,
    runtime_folder,
)
from madeleine.bootstrap.house import House, Houses
from madeleine.bootstrap.intake import folders_in, followed_sessions
from madeleine.bootstrap.minds import make_judge, make_minds
from madeleine.bootstrap.opening import open_house, open_houses

__all__ = [
    "LOCK_WAIT_SECONDS",
    "HomeLock",
    "House",
    "Houses",
    "SystemClock",
    "device_name",
    "folders_in",
    "followed_sessions",
    "load_settings",
    "make_folders",
    "make_intervals",
    "make_judge",
    "make_minds",
    "open_house",
    "open_houses",
    "runtime_folder",
    "unknown_variables_of",
]
