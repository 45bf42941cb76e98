"""What all tests share."""

import os

from hypothesis import settings

# The same examples in every run, so that a failure is the fault of the change that is tested and not of the dice. A random program can
# also be one whose ints grow without end. DY2ST_FUZZ=1 looks for new examples.
settings.register_profile("fixed", derandomize=True, deadline=None)
if os.environ.get("DY2ST_FUZZ") != "1":
    settings.load_profile("fixed")
