"""The table of switches; see `dy2st_runtime.config`."""

from __future__ import annotations

from dy2st_runtime.config import CACHE_DIR as CACHE_DIR
from dy2st_runtime.config import CHECKS as CHECKS
from dy2st_runtime.config import DUMP as DUMP
from dy2st_runtime.config import ENGINE as ENGINE
from dy2st_runtime.config import FULL_TRACEBACK as FULL_TRACEBACK
from dy2st_runtime.config import NO_CACHE as NO_CACHE
from dy2st_runtime.config import NO_JIT as NO_JIT
from dy2st_runtime.config import NUM_THREADS as NUM_THREADS
from dy2st_runtime.config import Flag as Flag
from dy2st_runtime.config import describe as describe
from dy2st_runtime.config import dumping as dumping
