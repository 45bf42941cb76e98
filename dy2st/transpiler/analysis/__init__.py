"""Facts about functions that passes ask for: activity, control flow, reaching definitions, liveness."""
