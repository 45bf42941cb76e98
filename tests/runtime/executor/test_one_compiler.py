"""There is one compiler in a process: with a second one the machine code that it linked would go."""

import threading
import time

from dy2st_runtime.executor import executable


def test_threads_that_ask_at_once_get_the_same(monkeypatch):
    class Slow(executable.KernelCompiler):
        def __init__(self):
            time.sleep(0.05)  # so that all threads come before the first is done
            super().__init__()

    monkeypatch.setattr(executable, "KernelCompiler", Slow)
    kept = executable.compiler()
    executable._compiler.cache_clear()
    try:
        found = []
        threads = [threading.Thread(target=lambda: found.append(executable.compiler())) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(set(map(id, found))) == 1
    finally:
        # the code that other tests have linked belongs to the compiler from before
        executable._compiler.cache_clear()
        monkeypatch.setattr(executable, "KernelCompiler", lambda: kept)
        assert executable.compiler() is kept
