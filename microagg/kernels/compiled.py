"""How kernels are compiled: a kernel that others call becomes a part of each of these, and no machine code by itself.

numba translates each function to machine code, and again with all that it calls within each of its callers, level by
level. Parts are optimized and translated once for each kernel that Python calls, which takes half the time. This uses
insides of numba that have been the same since 0.61, the oldest version that is allowed. Compiled code is kept where
``cache`` says; ``pages.shared.compiling`` compiles ahead.
"""

# mypy: ignore-errors

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any

from llvmlite.binding import add_symbol, parse_assembly
from numba import config, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import _nrt_python
from numba.core.target_extension import jit_registry, target_registry


class _Part(JITCodeLibrary):
    """The code of a kernel that other kernels call: it is optimized, and becomes machine code, only within theirs."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class _Parts(CPUDispatcher):
    """A function as kernels call it: for each types of its arguments one part, which is not stored on disk."""

    def compile(self, sig: tuple[Any, ...]) -> object:
        """Return what stands for the part for these types, which is compiled if there is none yet."""
        if sig not in self.overloads:
            flags = Flags()
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
            flags.no_compile = flags.no_cpython_wrapper = True
            library = _Part(self.targetctx.codegen(), self.py_func.__qualname__)
            part = compile_extra(
                self.typingctx, self.targetctx, self.py_func, sig, None, flags, self.locals, library=library
            )._replace(entry_point=object())
            self.targetctx.insert_user_function(part.entry_point, part.fndesc, [library])
            self.overloads[sig] = part
        return self.overloads[sig].entry_point


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Do not look for garbage meanwhile: compiling makes little, and looking for it took a tenth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def _numba_in_parts() -> Iterator[None]:
    """Have numba's own functions, such as ``np.empty``, taken in by the kernels that call them, like kernels."""
    cpu = target_registry["cpu"]
    jit = jit_registry.pop(cpu)
    jit_registry[cpu] = lambda **options: lambda function: _Parts(function, targetoptions={"nopython": True, **options})
    try:
        yield
    finally:
        jit_registry.pop(cpu)
        jit_registry[cpu] = jit


class _Stored(CompileResultCacheImpl):
    """A kernel as it is on disk, without what callers would be compiled from, and what only imports numba's modules."""

    def reduce(self, compiled: Any) -> tuple[Any, ...]:
        (name, kind, (code, _)), *rest, environments = super().reduce(compiled)
        names_only = parse_assembly(f'define void @"{compiled.fndesc.llvm_cpython_wrapper_name}"() {{ ret void }}')
        with_constants = tuple(environment for environment in environments if environment.consts)
        return (name, kind, (code, names_only.as_bitcode())), *rest, with_constants


@cache
def _name_memory_functions() -> None:
    """Tell LLVM where the functions are by which arrays are made and freed, as numba does before it compiles."""
    for name, address in _nrt_python.c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class _Cache(FunctionCache):
    """The compiled code of a kernel on disk."""

    _impl_class = _Stored

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load it without all that numba imports to compile, which it does for itself if there is nothing to load."""
        _name_memory_functions()
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _Kernel(CPUDispatcher):
    """A compiled function: machine code stored on disk when Python calls it, a part of each kernel that calls it."""

    @cached_property
    def _parts(self) -> _Parts:
        return _Parts(self.py_func, self.locals, self.targetoptions)

    def compile(self, sig: Any) -> Any:
        """Compile it for Python, or load it from disk; what it calls of numba becomes a part, too."""
        with global_compiler_lock, _no_garbage(), _numba_in_parts():
            return super().compile(sig)

    def get_call_template(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """As numba asks when it compiles a caller; constants among the arguments are no types of their own."""
        return self._parts.get_call_template([types.unliteral(arg) for arg in args], kws)

    def get_overload(self, sig: Any) -> object:
        """As numba asks when it compiles a caller."""
        return self._parts.get_overload(sig)


def kernel_with(**options: Any) -> Callable[[Any], Any]:
    """Return what decorates a kernel with further ``options`` of numba."""

    def decorate(function: Any) -> Any:
        if config.DISABLE_JIT:
            return function
        # Said here, whether arrays are counted does not depend on which kernel is the first to call this one.
        fixed = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, "_nrt": True}
        kernel = _Kernel(function, targetoptions=fixed | options)
        kernel._cache = _Cache(function)
        return kernel

    return decorate


#: Decorates a kernel.
kernel = kernel_with()

#: Decorates a kernel that makes no arrays and gets none from another one. Others count anew at each call who holds
#: the arrays of a named tuple, atomically, which takes time to run and to compile. One of these need not count, as
#: whoever calls it holds what it is given; numba refuses to compile any other in this way.
borrows = kernel_with(_nrt=False)
