"""Contexts, which hold memory and threads: those of a thread of Python, of `with` blocks and of GPUs; and Ctrl-C."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import signal
import sys
import threading
import weakref
from ctypes import byref
from typing import Any, Callable

from . import _header as h
from ._errors import INT, ArgumentError, CancelledError, DeviceError, whole
from ._library import as_dict, failure, lib, members_of, quick

SHORT = 10**6  # items of work up to which no call takes long; to listen for Ctrl-C takes 20 us


class Context:
    """A processor with its threads and a memory budget. Without one, each thread of Python has a context of its own
    for the CPU, and one for each stream of a GPU. In a `with` block this one is used instead.

    >>> import segsparse
    >>> with segsparse.Context(threads=1, max_bytes=10**6) as context:
    ...     A = segsparse.generate("poisson2d:10")
    >>> context.info["threads"]
    1

    device: "cpu", "cuda" or "cuda:1". threads: 0 is as many as OpenMP would use. max_bytes: 0 is no limit.
    log(sentence) receives each important decision, progress(phase, fraction) the progress of long calls.
    stream: the number of a cudaStream_t; keep: the object that owns it. pool: an lsp_allocator that never ends. The
    memory of a context ends when nothing uses it any more.
    """

    def __init__(self, device: str = "cpu", *, threads: int = 0, max_bytes: int = 0,
                 log: Callable[[str], Any] | None = None, progress: Callable[[str, float], Any] | None = None,
                 stream: int | None = None, keep: Any = None, pool: Any = None):
        name, _, ordinal = str(device).partition(":")
        if name not in ("cpu", "cuda") or (ordinal and not (ordinal.isascii() and ordinal.isdigit())):
            raise ArgumentError(f'device is {device!r}: it must be "cpu", "cuda" or "cuda:N"')
        self.cuda = name == "cuda"
        self.ordinal = whole("device", int(ordinal or 0), *INT)
        threads, max_bytes = whole("threads", threads, *INT), whole("max_bytes", max_bytes)
        stream = None if stream is None else whole("stream", stream, 0, 2**64 - 1)
        self._settings = (device, threads, max_bytes, stream, keep, pool)
        self._lock, self._thread = threading.Lock(), 0
        self._dead: collections.deque = collections.deque()
        self._raised: BaseException | None = None
        self._cancelled = False
        self._hooks = (h.lsp_log_fn(self.guarded(lambda user, text: log(text.decode()))) if log else h.lsp_log_fn(),
                       h.lsp_progress_fn(self.guarded(lambda user, phase, share: progress(phase.decode(), share)))
                       if progress else h.lsp_progress_fn())
        options = h.lsp_ctx_options(device=int(self.cuda), ordinal=self.ordinal, threads=threads, max_bytes=max_bytes,
                                    log=self._hooks[0], progress=self._hooks[1], stream=stream)
        if pool is not None:
            options.allocator = pool
        pointer, sentence = ctypes.c_void_p(), ctypes.create_string_buffer(512)
        self.pointer: int | None = None
        status = lib.lsp_ctx_create(byref(pointer), byref(options), sentence, len(sentence))
        if status:
            raise failure(status, sentence.value)
        self.pointer = pointer.value
        _contexts.add(self)

    def call(self, function: Any, *arguments: Any, size: int = sys.maxsize) -> None:
        """function(context, *arguments); raises what it tells, or what a function of the caller has raised. Ctrl-C
        stops it, unless its work, the `size`, is less than SHORT."""
        self.run(function, self.pointer, *arguments, size=size)

    def run(self, function: Any, *arguments: Any, size: int = sys.maxsize) -> None:
        """function(*arguments), of a plan of this context."""
        if size >= SHORT:
            with self.interruptible():
                return self.run(function, *arguments, size=0)
        self._begin()
        try:
            status = function(*arguments)
            if status or self._raised is not None:
                self._fail(status)
        finally:
            self._thread = 0
            self._lock.release()

    def make(self, csr: Any, arrays: Any, function: Any, *arguments: Any, size: int = sys.maxsize) -> tuple:
        """function(*arguments), which makes the matrix `csr`; its arrays leave the context. Returns the members of
        the matrix. Else as call()."""
        if size >= SHORT:
            with self.interruptible():
                return self.make(csr, arrays, function, *arguments, size=0)
        self._begin()
        try:
            return self.taken(function(*arguments), csr, arrays)
        finally:
            self._thread = 0
            self._lock.release()

    def taken(self, status: int, csr: Any, arrays: Any) -> tuple:
        """The members of the matrix that a function with this status has made; its arrays leave the context."""
        if status or self._raised is not None:
            if not status:  # interrupted too late
                lib.lsp_csr_free(self.pointer, byref(csr))
            self._fail(status)
        members = members_of(csr)
        status = quick.lsp_csr_detach(self.pointer, byref(csr), arrays)
        if status:
            self._fail(status)
        return members

    def _begin(self) -> None:
        """Takes the context for a call of this thread."""
        thread = threading.get_ident()
        if self._thread == thread:
            raise ArgumentError("a function that a call runs cannot use the context of this call")
        if self.pointer is None:
            raise DeviceError("the context belongs to the parent process: a fork cannot use it")
        self._lock.acquire()
        self._thread = thread
        while self._dead:
            destroy, handle = self._dead.popleft()
            destroy(handle)

    def _fail(self, status: int) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            lib.lsp_ctx_cancel(self.pointer, self._cancelled)
            raise raised
        raise failure(status, lib.lsp_last_error(self.pointer))

    def guarded(self, function: Callable, failed: Any = None) -> Callable:
        """A function for C: what it raises ends the call as soon as C allows, and is raised when the call returns."""

        def guarded(*arguments):
            if self._raised is None:
                try:
                    return function(*arguments)
                except BaseException as raised:
                    self._raised = raised
            if failed is None:
                lib.lsp_ctx_cancel(self.pointer, True)
            return failed

        return guarded

    @contextlib.contextmanager
    def interruptible(self) -> Any:
        """Around a call that may be long, or that has functions of the caller: Ctrl-C stops it, and is raised when it
        returns."""
        before, hit = signal.getsignal(signal.SIGINT), []
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return

        def note(number, frame):
            hit.append(number)
            _listener.sent += frame is not None  # None: told by a call within this one
            if self._raised is None:
                self._raised = KeyboardInterrupt()
            lib.lsp_ctx_cancel(self.pointer, True)

        outer = None
        try:
            signal.signal(signal.SIGINT, note)
            outer = _listener.begin(self, before)
            yield
        except (KeyboardInterrupt, CancelledError):
            if not hit:
                raise
        finally:
            try:
                signal.signal(signal.SIGINT, before)  # runs note() first, if there is a signal
            finally:
                _listener.end(outer)
                self._raised = None
        if hit:
            lib.lsp_ctx_cancel(self.pointer, self._cancelled)
            before(hit[0], None)

    def bury(self, destroy: Any, handle: Any) -> None:
        """Destroys a plan or frees a batch, now or before the next call: garbage is found at any time."""
        if self.pointer is None:
            return
        if self._lock.acquire(blocking=False):
            try:
                destroy(handle)
            finally:
                self._lock.release()
        else:
            self._dead.append((destroy, handle))

    def inner(self) -> "Context":
        """A context like this one, for calls within a function that a call of this one runs."""
        device, threads, max_bytes, stream, keep, pool = self._settings
        return Context(device, threads=threads, max_bytes=max_bytes, stream=stream, keep=keep, pool=pool)

    @property
    def busy(self) -> bool:
        """Is this thread within a call of this context?"""
        return self._thread == threading.get_ident()

    @property
    def info(self) -> dict:
        """What the context is, and the bytes that it holds: host_bytes, host_peak_bytes, cuda_bytes ..."""
        info = h.lsp_ctx_info()
        self.call(lib.lsp_ctx_get_info, byref(info))
        return as_dict(info)

    def cancel(self, cancelled: bool = True) -> None:
        """From any thread: the call that runs and all others raise CancelledError, until cancel(False)."""
        self._cancelled = cancelled
        if self.pointer is not None:
            lib.lsp_ctx_cancel(self.pointer, cancelled)

    def trim(self) -> None:
        """Gives back the memory that is kept for the next calls."""
        self.call(lib.lsp_ctx_trim)

    def synchronize(self) -> None:
        """Waits for the GPU. Raises what its kernels found: malformed segments, columns outside a matrix."""
        self.call(lib.lsp_ctx_sync)

    def __reduce__(self) -> Any:
        raise ArgumentError("a context cannot be copied or pickled: make another")

    def __enter__(self) -> "Context":
        _local.stack.append(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        _local.stack.remove(self)

    def __del__(self, destroy: Any = lib.lsp_ctx_destroy) -> None:
        if getattr(self, "pointer", None) is not None:
            destroy(self.pointer)


class _Listener:
    """A thread that hears of Ctrl-C while the main thread is in C, where no handler of Python runs."""

    def __init__(self) -> None:
        self.lock, self.context, self.write = threading.Condition(), None, None
        self.sent = self.heard = 0
        self.others, self.handler = -1, None  # whoever heard of signals before

    def begin(self, context: Context, handler: Callable) -> Context | None:
        """From now on Ctrl-C cancels this context. Returns the one before, for end()."""
        if self.write is None:
            read, self.write = os.pipe()
            os.set_blocking(self.write, False)
            threading.Thread(target=self._listen, args=(read,), name="segsparse Ctrl-C", daemon=True).start()
        with self.lock:
            outer, self.context = self.context, context
            if outer is None:
                self.others, self.handler = signal.set_wakeup_fd(self.write, warn_on_full_buffer=False), handler
        return outer

    def end(self, outer: Context | None) -> None:
        with self.lock:
            # What it has not heard yet, it must not take for a later call.
            self.lock.wait_for(lambda: self.heard >= self.sent, timeout=1)
            self.sent, self.context = self.heard, outer
            if outer is None:
                signal.set_wakeup_fd(self.others)

    def _listen(self, read: int) -> None:
        while True:
            signals = os.read(read, 64)
            with self.lock:
                self.heard += signals.count(signal.SIGINT)
                self.lock.notify()
                if signal.SIGINT in signals and self.context is not None:
                    lib.lsp_ctx_cancel(self.context.pointer, True)
                if self.others != -1:  # asyncio's, for example
                    with contextlib.suppress(OSError):
                        os.write(self.others, signals)


class Handle:
    """Something that a context holds until this object ends."""

    def __init__(self, context: Context, destroy: Any, value: Any):
        self.context, self.destroy, self.value = context, destroy, value

    def __reduce__(self) -> Any:
        raise ArgumentError("a plan cannot be copied or pickled: make another")

    def __del__(self) -> None:
        self.context.bury(self.destroy, self.value)


class _Mine(threading.local):
    """The contexts of a thread: those of `with` blocks, and those made when they were needed."""

    def __init__(self) -> None:
        self.stack: list[Context] = []
        self.host: Context | None = None  # the one of small calls
        self.made: dict[tuple, Context] = {}


_contexts: weakref.WeakSet = weakref.WeakSet()
_local = _Mine()
_listener = _Listener()


def current(ordinal: int | None = None, stream: int | None = None, keep: Any = None, pool: Any = None) -> Context:
    """The context for arrays on GPU `ordinal`, or for arrays of the host (None)."""
    local = _local
    context = local.host
    if context is not None and ordinal is None and not local.stack and not context._thread:
        return context
    for context in reversed(local.stack):
        if ordinal is None or (context.cuda and context.ordinal == ordinal):
            break
    else:
        key = (ordinal, stream, id(pool))
        context = local.made.get(key)
        if context is None:
            device = "cpu" if ordinal is None else f"cuda:{ordinal}"
            context = local.made[key] = Context(device, stream=stream, keep=keep, pool=pool)
            if ordinal is None:
                local.host = context
    depth = 0
    while context._thread and context.busy:
        depth += 1
        key = (id(context), "inner", depth)
        if key not in local.made:
            local.made[key] = context.inner()
        context = local.made[key]
    return context


def synchronize() -> None:
    """Waits for the GPU's contexts of this thread, and raises what their kernels found.

    >>> import segsparse
    >>> segsparse.synchronize()
    """
    for context in (*_local.stack, *_local.made.values()):
        if context.cuda:
            context.synchronize()


def _forked() -> None:
    """In the child of a fork the threads of a context are gone: it is forgotten, and the next call makes another."""
    global _local, _listener
    if _listener.context is not None:  # another thread of the parent was in a call: its signals are not ours
        signal.set_wakeup_fd(_listener.others)
        signal.signal(signal.SIGINT, _listener.handler)
    _local, _listener = _Mine(), _Listener()
    for context in list(_contexts):
        context.pointer = None


os.register_at_fork(after_in_child=_forked)
