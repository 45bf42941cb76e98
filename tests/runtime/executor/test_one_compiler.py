"""There is one compiler in a process: with a second one the machine code that it linked would go."""

import threading
import time

from dy2st_runtime.executor import compile


def test_threads_that_ask_at_once_get_the_same(monkeypatch):
    class Slow(compile.KernelCompiler):
        def __init__(self):
            time.sleep(0.05)  # so that all threads come before the first is done
            super().__init__()

    monkeypatch.setattr(compile, "KernelCompiler", Slow)
    kept = compile.compiler()
    compile._compiler.cache_clear()
    try:
        found = []
        threads = [threading.Thread(target=lambda: found.append(compile.compiler())) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(set(map(id, found))) == 1
    finally:
        # the code that other tests have linked belongs to the compiler from before
        compile._compiler.cache_clear()
        monkeypatch.setattr(compile, "KernelCompiler", lambda: kept)
        assert compile.compiler() is kept
